/// Weights that no kernel takes are an error at load, with file, tensor and reason; what is odd and legal loads.

import Engine
import Foundation
import Testing

@testable import Runtime

/// The quantized module that is damaged.
private let module = "model.layers.1.mlp.up_proj"

/// A copy of a quantized checkpoint with one tensor replaced.
private func damaged(
    _ name: String, config: [String: Any] = [:], _ change: (inout SafetensorsWriter.Tensor) -> Void
) throws -> ScratchDirectory {
    let folder = try ScratchDirectory(copyOf: "llama-4bit-g64", config: config)
    var writer = try tensors(of: "llama-4bit-g64")
    writer.tensors = writer.tensors.map { item in
        guard item.name == name else { return item }
        var tensor = item.tensor
        change(&tensor)
        return (name, tensor)
    }
    try folder.write("model.safetensors", writer.data())
    return folder
}

/// Loads as the server does.
private func load(_ folder: ScratchDirectory) throws -> any StepRunner {
    try CheckpointLoader().load(path: folder.url.path, options: ModelOptions(), progress: { _ in })
}

/// What one greedy step says.
private func outcome(_ runner: any StepRunner) throws -> SegmentOutcome {
    try runner.open(SequenceID(1), capacityTokens: 8)
    let sample = SampleRequest(parameters: SamplingParameters())
    let segment = Segment(sequence: SequenceID(1), tokens: [1, 2, 3], position: 0, sample: sample)
    return try runner.step([segment])[0]
}

extension RuntimeTests {
    @Suite("Damaged weights") struct DamagedWeightsTests {
        @Test(
            "A tensor of a shape that does not fit is refused with file, tensor and both shapes",
            arguments: [
                (".scales", [128, 2], [128, 1]), (".scales", [64, 1], [128, 1]), (".biases", [128], [128, 1]),
                (".weight", [128, 9], [128, 8]), (".weight", [128, 64], [128, 8]), (".scales", [0, 1], [128, 1]),
            ])
        func shapes(part: String, shape: [Int], wanted: [Int]) throws {
            let name = module + part
            let folder = try damaged(name) { $0 = .init(type: part == ".weight" ? "U32" : "F32", shape: shape) }
            let error = try #require(refusal { _ = try load(folder) })
            #expect(error.code == .model)
            #expect(error.message == "model.safetensors: tensor \(name) has shape \(shape); wanted \(wanted)")
        }

        @Test(
            "A tensor of a dtype that no kernel reads is refused with file, tensor and dtype",
            arguments: [
                (".weight", "I32", 4), (".weight", "F32", 4), (".scales", "F64", 8), (".scales", "U16", 2),
                (".biases", "F8_E4M3", 1), (".scales", "BOOL", 1),
            ])
        func dtypes(part: String, dtype: String, size: Int) throws {
            let name = module + part
            let folder = try damaged(name) { $0 = .init(type: dtype, size: size, shape: $0.shape) }
            let error = try #require(refusal { _ = try load(folder) })
            #expect(error.code == .model)
            #expect(error.message.hasPrefix("model.safetensors: tensor \(name) has dtype \(dtype); wanted "))
        }

        @Test(
            "Bits and groups that no kernel takes are refused with the module that has them",
            arguments: [
                (7, 64, "bits is 7"), (4, 48, "group_size is 48"), (1, 64, "bits is 1"), (4, 256, "group_size is 256"),
            ])
        func quantization(bits: Int, group: Int, reason: String) throws {
            let settings: [String: Any] = [
                "group_size": 64, "bits": 4, module: ["group_size": group, "bits": bits],
            ]
            let folder = try ScratchDirectory(copyOf: "llama-4bit-g64", config: ["quantization": settings])
            let error = try #require(refusal { _ = try load(folder) })
            #expect(error.code == .model && error.message.contains(reason), "\(error.message)")
            #expect(error.message.contains("config.json") && error.message.contains(module), "\(error.message)")
        }

        @Test("A group size that is not the files' is refused by the scales that do not fit")
        func otherGroup() throws {
            let settings = ["group_size": 32, "bits": 4]
            let folder = try ScratchDirectory(copyOf: "llama-4bit-g64", config: ["quantization": settings])
            let error = try #require(refusal { _ = try load(folder) })
            #expect(error.message.contains(".scales has shape [") && error.message.contains("; wanted ["))
        }

        @Test(
            "Weights that begin at an address that is no multiple of their elements load and say the same",
            arguments: 1...7)
        func misaligned(bytes: Int) throws {
            let folder = try ScratchDirectory(copyOf: "llama-4bit-g64")
            let sound = try Data(contentsOf: folder.url.appendingPathComponent("model.safetensors"))
            let length = Int(sound.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
            let header = sound[8..<(8 + length)]
            let padded = header + Data(repeating: UInt8(ascii: " "), count: bytes)
            try folder.write("model.safetensors", SafetensorsWriter.file(header: padded, data: sound[(8 + length)...]))
            guard case .sampled(let wanted) = try outcome(load(ScratchDirectory(copyOf: "llama-4bit-g64"))),
                case .sampled(let found) = try outcome(load(folder))
            else {
                Issue.record("a step drew nothing")
                return
            }
            #expect(found.token == wanted.token)
        }

        @Test(
            "A scale, a bias or a norm that is no finite number is refused with file, tensor and place",
            arguments: [
                (".scales", "F32", [0, 0, 0xC0, 0x7F]), (".biases", "F32", [0, 0, 0x80, 0xFF]),
                (".scales", "F16", [0, 0x7C]), (".biases", "BF16", [0xC1, 0x7F]),
            ])
        func unsound(part: String, dtype: String, bytes: [UInt8]) throws {
            let name = module + part
            let folder = try damaged(name) { tensor in
                tensor = .init(type: dtype, size: bytes.count, shape: tensor.shape)
                tensor.bytes.replaceSubrange(77 * bytes.count..<78 * bytes.count, with: bytes)
            }
            let error = try #require(refusal { _ = try load(folder) })
            #expect(error.code == .format)
            #expect(
                error.message == "model.safetensors: tensor \(name) has a NaN or an infinity at element 77 of shape "
                    + "[128, 1]; wanted finite numbers")
        }

        @Test("The NaN among exponents is refused; every other one loads, and so do all codes")
        func exponents() throws {
            let name = "\(module).scales"
            for (byte, sound) in [(UInt8(255), false), (254, true), (0, true)] {
                let folder = try ScratchDirectory(copyOf: "llama-mxfp4")
                var writer = try tensors(of: "llama-mxfp4")
                writer.tensors = writer.tensors.map { item in
                    guard item.name == name else { return item }
                    var tensor = item.tensor
                    tensor.bytes[tensor.bytes.startIndex + 5] = byte
                    return (name, tensor)
                }
                try folder.write("model.safetensors", writer.data())
                let error = refusal { _ = try load(folder) }
                #expect((error == nil) == sound, "\(byte)")
                #expect(sound || error?.message.contains("\(name) has a NaN or an infinity at element 5") == true)
            }
        }

        @Test("A file that is cut short under a loaded model makes every later step an error, and ends no process")
        func cutShort() throws {
            // Its header's length lets tensors stay in the file.
            let folder = try ScratchDirectory(copyOf: "llama-4bit-g64")
            let runner = try load(folder)
            guard case .sampled = try outcome(runner) else {
                Issue.record("a step drew nothing")
                return
            }
            runner.close(SequenceID(1))
            #expect(truncate(folder.url.appendingPathComponent("model.safetensors").path, 4096) == 0)
            for _ in 0..<2 {
                let error = try #require(refusal { _ = try outcome(runner) })
                #expect(error.code == .io && error.message.hasPrefix("model.safetensors was cut short"))
                runner.close(SequenceID(1))
            }
            guard case .sampled = try outcome(load(ScratchDirectory(copyOf: "llama-4bit-g64"))) else {
                Issue.record("another model drew nothing")
                return
            }
        }

        @Test("Scales and biases of different dtypes end no process")
        func oddValues() throws {
            let mixed = try damaged("\(module).scales") { $0 = .init(type: "F16", size: 2, shape: $0.shape) }
            if let error = refusal({ _ = try outcome(load(mixed)) }) {
                #expect(error.message.contains(module), "\(error.message)")
            }
        }
    }
}
