/// What the suites share: a seeded generator, the golden folders, a scratch directory.

import Engine
import Foundation

@testable import Runtime

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

/// Loads in float32, as the goldens were made.
func loadFloat32(_ path: String) throws -> any StepRunner {
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
