/// Logits and greedy tokens against mlx-lm, on tiny random checkpoints and on the real SmolLM2.
///
/// Goldens: tests/golden/logits (its README has the versions and the command). Bounds: max |Δlogit| 2e-3; greedy tokens
/// equal up to the first step whose two best logits are closer than 4e-3.

import Engine
import Foundation
import Testing

@testable import Runtime

private let logitBound: Float = 2e-3
private let gapBound: Float = 4e-3

/// One golden file.
private struct TinyGolden: Decodable {
    struct Result: Decodable {
        let logits: [Float]
        let tokens: [Int32]
        let gaps: [Float]
    }
    let checkpoint: String
    let results: [Result]
}

private func golden(_ name: String) throws -> Data {
    try Data(contentsOf: goldens.appendingPathComponent("logits/\(name)"))
}

/// Tiny goldens by file name.
private let tinyNames: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: goldens.appendingPathComponent("logits").path)) ?? [])
    .filter { $0.hasSuffix(".json") && $0 != "prompts.json" && $0 != "smollm2.json" }.sorted()

/// Runs a prompt in chunks, then greedy steps.
private func run(
    _ runner: any StepRunner, _ prompt: [Int32], steps: Int
) throws -> (logits: [Float], tokens: [Int32]) {
    let model = try #require(runner as? ModelRunner)
    let id = SequenceID(1)
    try runner.open(id, capacityTokens: prompt.count + steps)
    defer { runner.close(id) }
    let logits = try model.lastLogits(Segment(sequence: id, tokens: prompt, position: 0, sample: nil))
    var tokens = [Int32(try #require(Sampler.argmax(logits)))]
    while tokens.count < steps {
        let segment = Segment(
            sequence: id, tokens: [tokens[tokens.count - 1]], position: prompt.count + tokens.count - 1,
            sample: SampleRequest(parameters: SamplingParameters()))
        guard case .sampled(let drawn) = try runner.step([segment])[0] else { break }
        tokens.append(drawn.token)
    }
    return (logits, tokens)
}

/// Steps up to the first one that is too close to call.
private func decided(_ gaps: [Float]) -> Int { gaps.firstIndex { $0 < gapBound } ?? gaps.count }

private func distance(_ left: [Float], _ right: [Float]) -> Float {
    left.count == right.count ? zip(left, right).reduce(0) { max($0, abs($1.0 - $1.1)) } : .infinity
}

extension RuntimeTests {
    @Suite("Parity with mlx-lm") struct ParityTests {
        @Test("Goldens are there: 17 checkpoints and 4 rope settings")
        func goldensExist() { #expect(tinyNames.count == 21) }

        @Test("Tiny checkpoints give the logits and greedy tokens of mlx-lm", arguments: tinyNames)
        func tiny(_ name: String) throws {
            let expected = try JSONDecoder().decode(TinyGolden.self, from: golden(name))
            let prompts = try JSONDecoder().decode([[Int32]].self, from: golden("prompts.json"))
            let whole = try #require(JSONSerialization.jsonObject(with: golden(name)) as? [String: Any])
            let change = try #require(whole["config"] as? [String: Any])
            let folder = try ScratchDirectory(copyOf: expected.checkpoint, config: change)
            let runner = try loadFloat32(folder.url.path)
            #expect(expected.results.count == prompts.count)
            for (prompt, result) in zip(prompts, expected.results) {
                let found = try run(runner, prompt, steps: result.tokens.count)
                let difference = distance(found.logits, result.logits)
                #expect(difference <= logitBound, "\(name), prompt of \(prompt.count)")
                let steps = decided(result.gaps)
                #expect(found.tokens.prefix(steps) == result.tokens.prefix(steps), "\(name), prompt of \(prompt.count)")
            }
        }

        @Test("SmolLM2 gives the logits and greedy tokens of mlx-lm")
        func smolLM2() throws {
            struct Expected: Decodable {
                let ids: [Int32]
                let logits: String
                let tokens: [Int32]
                let gaps: [Float]
            }
            let runner = try loadFloat32(requireSmolLM2())
            for expected in try JSONDecoder().decode([Expected].self, from: golden("smollm2.json")) {
                let logits = try golden(expected.logits).withUnsafeBytes { bytes in
                    (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
                }
                let found = try run(runner, expected.ids, steps: expected.tokens.count)
                #expect(distance(found.logits, logits) <= logitBound, "prompt of \(expected.ids.count)")
                let steps = decided(expected.gaps)
                #expect(
                    found.tokens.prefix(steps) == expected.tokens.prefix(steps), "prompt of \(expected.ids.count)")
            }
        }
    }
}
