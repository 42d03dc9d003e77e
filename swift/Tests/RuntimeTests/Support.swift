/// What the suites share: a seeded generator, the golden folders, a scratch directory.

import Engine
import Foundation
import Kernels
import Testing

@testable import Runtime

/// All suites, one test at a time: MLX belongs to one thread, and memory is counted for the whole process.
@Suite("Runtime", .serialized) enum RuntimeTests {}

/// splitmix64: the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Roughly normal: the sum of twelve uniforms.
    mutating func normal() -> Float {
        (0..<12).reduce(Float(-6)) { sum, _ in sum + Float.random(in: 0..<1, using: &self) }
    }
}

/// The repository that these sources are in.
let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// tests/golden
let goldens = repository.appendingPathComponent("tests/golden")

/// Path of a committed tiny checkpoint.
func tinyCheckpoint(_ name: String) -> String { goldens.appendingPathComponent("checkpoints/\(name)").path }

/// A directory that goes away with its owner.
final class ScratchDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rmx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ name: String, _ data: Data) throws { try data.write(to: url.appendingPathComponent(name)) }

    func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

    /// Copies a committed checkpoint, with members of its config replaced or, with NSNull, set to null.
    convenience init(copyOf checkpoint: String, config: [String: Any] = [:]) throws {
        try self.init()
        let source = URL(fileURLWithPath: tinyCheckpoint(checkpoint))
        for name in ["config.json", "model.safetensors"] {
            try write(name, Data(contentsOf: source.appendingPathComponent(name)))
        }
        let text = try Data(contentsOf: source.appendingPathComponent("config.json"))
        guard var members = try JSONSerialization.jsonObject(with: text) as? [String: Any] else { return }
        members.merge(config) { $1 }
        try write("config.json", JSONSerialization.data(withJSONObject: members))
    }
}

/// Path of the converted SmolLM2-135M-Instruct.
/// - Throws: Fails the test when `RMX_TEST_MODEL` is not set; `deno task test` sets it.
func requireSmolLM2() throws -> String {
    try #require(
        ProcessInfo.processInfo.environment["RMX_TEST_MODEL"],
        "RMX_TEST_MODEL names no converted SmolLM2-135M-Instruct; `deno task test` sets it")
}

/// Loads in float32 and exact arithmetic, as the goldens were made.
func loadFloat32(_ path: String) throws -> any StepRunner {
    // Another suite of this process may have opened an engine.
    if Processor.variant != nil { try Processor.configure(threads: 0, fast: false) }
    var options = ModelOptions()
    options.float32 = true
    return try CheckpointLoader().load(path: path, options: options, progress: { _ in })
}

/// The message of the EngineError that `body` throws, or nil.
func refusal(_ body: () throws -> Void) -> EngineError? {
    do {
        try body()
        return nil
    } catch {
        return error as? EngineError
    }
}

/// The tensors of a committed checkpoint, in the order of its data.
/// - Parameter half: What float32 tensors are cut or rounded to: `BF16`, `F16`, or nil to keep them.
func tensors(of checkpoint: String, half: String? = nil) throws -> SafetensorsWriter {
    let url = URL(fileURLWithPath: tinyCheckpoint(checkpoint)).appendingPathComponent("model.safetensors")
    let file = try SafetensorsFile(url)
    var writer = SafetensorsWriter()
    for (name, entry) in file.entries.sorted(by: { $0.value.range.lowerBound < $1.value.range.lowerBound }) {
        let memory = try file.readOwned(entry)
        defer { free(memory) }
        var tensor = SafetensorsWriter.Tensor(type: entry.type.rawValue, shape: entry.shape)
        tensor.bytes = Data(bytes: memory, count: entry.range.count)
        if let half, entry.type == .f32 {
            let floats = memory.bindMemory(to: Float.self, capacity: entry.range.count / 4)
            let words = (0..<entry.range.count / 4).map { halved(floats[$0], half) }
            tensor.type = half
            tensor.bytes = words.withUnsafeBytes { Data($0) }
        }
        writer.tensors.append((name, tensor))
    }
    return writer
}

/// The bits of a float in a 16-bit type; bfloat16 by cutting.
private func halved(_ value: Float, _ type: String) -> UInt16 {
    if type == "BF16" { return UInt16(value.bitPattern >> 16) }
    let bits = value.bitPattern
    let exponent = Int(bits >> 23 & 0xFF) - 112
    let sign = UInt16(bits >> 16 & 0x8000)
    // Weights are far below the largest float16; what is too small becomes 0.
    return exponent > 0 ? sign | UInt16(exponent) << 10 | UInt16(bits >> 13 & 0x3FF) : sign
}
