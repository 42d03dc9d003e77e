/// The safetensors reader: sound files, every way a header can lie, and seeded mutations.

import Foundation
import Layers
import Testing

@testable import Runtime

private func open(_ data: Data) throws -> SafetensorsFile {
    let scratch = try ScratchDirectory()
    try scratch.write("model.safetensors", data)
    return try SafetensorsFile(scratch.url.appendingPathComponent("model.safetensors"))
}

private func refusal(_ data: Data) -> CheckpointError? {
    do {
        _ = try open(data)
        return nil
    } catch {
        return error as? CheckpointError
    }
}

private func file(_ header: String, data: Int = 16, length: UInt64? = nil) -> Data {
    SafetensorsWriter.file(header: Data(header.utf8), data: Data(count: data), length: length)
}

/// Two tensors that share the bytes 8 to 12.
private let overlapping =
    #"{"s":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"#
    + #""t":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#

extension RuntimeTests {
    @Suite("Safetensors") struct SafetensorsTests {
        @Test("A sound file gives its tensors, metadata aside")
        func sound() throws {
            var writer = SafetensorsWriter()
            writer.tensors = [
                ("a", .init(shape: [2, 3])), ("b", .init(type: "BF16", size: 2, shape: [5])),
                ("scalar", .init(shape: [])), ("none", .init(shape: [0, 4])),
            ]
            let entries = try open(writer.data()).entries
            #expect(entries.keys.sorted() == ["a", "b", "none", "scalar"])
            #expect(entries["a"] == TensorEntry(type: .f32, shape: [2, 3], range: 0..<24))
            #expect(entries["b"] == TensorEntry(type: .bf16, shape: [5], range: 24..<34))
        }

        @Test(
            "A header that lies is refused with file, tensor and reason",
            arguments: [
                (#"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}}"#, "takes 16 bytes, data_offsets hold 12"),
                (#"{"t":{"dtype":"F32","shape":[4],"data_offsets":[4,20]}}"#, "not a range within 16 bytes"),
                (#"{"t":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}}"#, "not a range"),
                (#"{"t":{"dtype":"F32","shape":[4],"data_offsets":[-16,0]}}"#, "not a range"),
                (#"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16,32]}}"#, "not a range"),
                (#"{"t":{"dtype":"F33","shape":[4],"data_offsets":[0,16]}}"#, "dtype \"F33\" is unknown"),
                (#"{"t":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}}"#, "makes no sense"),
                (#"{"t":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}}"#, "makes no sense"),
                (#"{"t":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,4],"data_offsets":[0,16]}}"#, "9 dimensions"),
                (#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, "tensors take 8 bytes, the file holds 16"),
                (#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#, "leaves a gap"),
                (overlapping, "overlaps"),
                (#"{"t":{"dtype":"F32","shape":[1.5],"data_offsets":[0,16]}}"#, "tensor t: wanted dtype, shape and"),
                (#"{"t":{"dtype":"F32","data_offsets":[0,16]}}"#, "tensor t: wanted dtype, shape and"),
                (#"{"t":7}"#, "tensor t: wanted dtype, shape and"),
                (#"{"t":{},"t":{}}"#, "the key \"t\" is there twice"),
                ("{\"t\u{01}\":{}}", "unexpected byte 0x1 at 3"),
                ("[1, 2, 3]", "header is not what the format says"),
                (#"{"t":{"dtype":"F32","shape":[4],"#, "header is not what the format says"),
            ])
        func lies(header: String, reason: String) throws {
            let error = try #require(refusal(file(header)))
            #expect(error.kind == .format)
            #expect(
                error.message.hasPrefix("model.safetensors: ") && error.message.contains(reason), "\(error.message)")
        }

        @Test("A wrong header length is refused", arguments: [0, 1, 3000, UInt64(1) << 40, .max] as [UInt64])
        func wrongLength(length: UInt64) throws {
            let error = try #require(refusal(file("{}", data: 0, length: length)))
            #expect(error.message.contains("header length is \(length)"))
        }

        @Test("A file of fewer than eight bytes is refused")
        func tiny() throws {
            #expect(try #require(refusal(Data(count: 7))).message.contains("it has 7 bytes"))
        }

        @Test("A truncated file is refused at every length")
        func truncated() throws {
            var writer = SafetensorsWriter()
            writer.tensors = [("a", .init(shape: [8])), ("b", .init(shape: [8]))]
            let whole = try writer.data()
            for length in 0..<whole.count { #expect(refusal(whole.prefix(length)) != nil, "\(length) bytes") }
        }

        @Test("A header nested 100,000 deep is refused and does not end the process")
        func deep() {
            let deep = String(repeating: "[", count: 100_000)
            #expect(refusal(file("{\"t\":" + deep)) != nil)
            #expect(refusal(file(String(repeating: "{\"a\":", count: 100_000))) != nil)
        }

        @Test("A pipe in the place of a file is an error and not a hang")
        func pipe() throws {
            let scratch = try ScratchDirectory()
            let url = scratch.url.appendingPathComponent("model.safetensors")
            #expect(mkfifo(url.path, 0o600) == 0)
            #expect(throws: CheckpointError.self) { try SafetensorsFile(url) }
        }

        @Test("A tensor is lent where it lies in the file if that is aligned to its elements", arguments: [0, 1, 2, 4])
        func lending(shift: Int) throws {
            var writer = SafetensorsWriter()
            writer.tensors = [("a", .init(shape: [5000])), ("none", .init(shape: [0]))]
            writer.tensors[0].tensor.bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
            let bytes = writer.tensors[0].tensor.bytes
            let header = try JSONSerialization.data(withJSONObject: writer.header, options: .sortedKeys)
            // Spaces may stand behind the header; the data begins after them.
            let padding = Data(repeating: 0x20, count: (8 - header.count % 8) % 8 + shift)
            let scratch = try ScratchDirectory()
            try scratch.write("model.safetensors", SafetensorsWriter.file(header: header + padding, data: bytes))
            let file = try SafetensorsFile(scratch.url.appendingPathComponent("model.safetensors"))
            let entry = try #require(file.entries["a"])
            let lent = try file.lend(entry)
            #expect((lent != nil) == (shift % 4 == 0))
            if let (start, owner) = lent {
                withExtendedLifetime(owner) { #expect(Data(bytes: start, count: 20_000) == bytes) }
            }
            let none = try #require(file.entries["none"])
            #expect(try file.lend(none) == nil)
        }

        @Test("A file that has become shorter is an error where its bytes are asked for")
        func shrunk() throws {
            var writer = SafetensorsWriter()
            writer.tensors = [("a", .init(shape: [5000]))]
            let scratch = try ScratchDirectory()
            let url = scratch.url.appendingPathComponent("model.safetensors")
            try writer.data().write(to: url)
            let file = try SafetensorsFile(url)
            try FileHandle(forWritingTo: url).truncate(atOffset: 100)
            let entry = try #require(file.entries["a"])
            #expect(throws: CheckpointError.self) { _ = try file.lend(entry) }
        }

        @Test("3,000 seeded mutations of a file are each opened or refused, and what opens is sound")
        func mutations() throws {
            var writer = SafetensorsWriter()
            writer.tensors = [("a", .init(shape: [2, 3])), ("bb", .init(type: "U32", shape: [4]))]
            let sound = try writer.data()
            let scratch = try ScratchDirectory()
            let url = scratch.url.appendingPathComponent("model.safetensors")
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<3000 {
                let data = mutated(sound, &generator)
                try data.write(to: url)
                guard let file = try? SafetensorsFile(url) else { continue }
                for entry in file.entries.values {
                    #expect(entry.range.count == entry.shape.reduce(entry.type.size, *))
                    free(try file.readOwned(entry))
                }
            }
        }
    }
}

/// One to four edits: a byte changed, bytes cut out, bytes doubled, a number made large.
func mutated(_ data: Data, _ generator: inout SeededGenerator) -> Data {
    var bytes = [UInt8](data)
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 1...8, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
        default:
            if let digit = bytes[place...].firstIndex(where: { (48...57).contains($0) }) {
                bytes.replaceSubrange(digit...digit, with: [57, 57, 57, 57, 57, 57, 57, 57, 57, 57])
            }
        }
    }
    return Data(bytes)
}
