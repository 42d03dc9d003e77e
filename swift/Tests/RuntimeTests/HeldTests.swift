/// Draws from kept logits: a masked draw is the draw over what is allowed, together = alone, what is kept stays put.

import Engine
import Foundation
import MLX
import Testing

@testable import Runtime

/// Greedy, seeded, filtered, penalised.
private func parameters(_ index: Int) -> SamplingParameters {
    var parameters = SamplingParameters()
    parameters.logprobsTop = index % 2 == 0 ? 2 : nil
    if index % 4 > 0 {
        parameters.temperature = 0.9
        parameters.seed = UInt64(index)
    }
    if index % 4 == 2 { parameters.topP = 0.9 }
    if index % 4 == 3 { parameters.topK = 7 }
    if index % 3 == 1 { parameters.repetitionPenalty = 1.3 }
    return parameters
}

/// Allows a third of 128 tokens, another one at each position.
private func allowed(_ position: Int) -> [UInt32] {
    var words = [UInt32](repeating: 0, count: 4)
    for token in 0..<128 where (token * 7 + position) % 3 == 0 { words[token / 32] |= 1 << UInt32(token % 32) }
    return words
}

/// Answers of `steps` tokens under masks, all sequences in shared steps; sequence 0 of each round is told a step late.
private func run(_ indices: [Int], on runner: any StepRunner, steps: Int, late: Bool) throws -> [[SampledToken]] {
    let prompt: (Int) -> [Int32] = { index in (0...index).map { Int32(($0 * 11 + index) % 128) } }
    var rows = indices.map(prompt)
    var drawn = indices.map { _ in [SampledToken]() }
    var done = indices.map { _ in 0 }
    let id: (Int) -> SequenceID = { SequenceID(UInt32($0 + 1)) }
    for index in indices { try runner.open(id(index), capacityTokens: index + 1 + steps) }
    defer { for index in indices { runner.close(id(index)) } }
    while drawn.contains(where: { $0.count < steps }) {
        let live = indices.indices.filter { drawn[$0].count < steps }
        let stepped = live.filter { done[$0] < rows[$0].count }
        let segments = stepped.map { i in
            Segment(
                sequence: id(indices[i]), tokens: Array(rows[i][done[i]...]), position: done[i], sample: nil, holds: true)
        }
        for case .failed(let error) in try runner.step(segments) { throw error }
        for i in stepped { done[i] = rows[i].count }
        // Those told late are drawn after the others have gone another step.
        let told = late && live.count > 1 ? Array(live.dropFirst()) : live
        let draws = told.map { i in
            HeldDraw(
                sequence: id(indices[i]),
                sample: SampleRequest(
                    parameters: parameters(indices[i]), history: rows[i], completionStart: indices[i] + 1),
                choice: .mask(allowed(rows[i].count)))
        }
        for (i, outcome) in zip(told, try runner.draw(draws)) {
            guard case .sampled(let token) = outcome else { throw EngineError(.internal, "\(outcome)") }
            drawn[i].append(token)
            rows[i].append(token.token)
        }
    }
    return drawn
}

extension RuntimeTests {
    @Suite("Held logits") struct HeldTests {
        @Test("A masked draw is the draw over a row whose other logits are out of reach")
        func masked() throws {
            var generator = SeededGenerator(seed: 3)
            for index in 0..<64 {
                let logits = (0..<128).map { _ in generator.normal() * 4 }
                let words = allowed(index)
                var out = logits
                for token in 0..<128 where words[token / 32] >> UInt32(token % 32) & 1 == 0 { out[token] = -.infinity }
                var parameters = parameters(index)
                parameters.repetitionPenalty = 1
                let request = SampleRequest(parameters: parameters)
                let token = try #require(Sampler.draw(logits, request, position: index, allowed: words))
                #expect(token == Sampler.draw(out, request, position: index))
                #expect(out[Int(token.token)].isFinite && token.top.allSatisfy { $0.logprob.isFinite })
                guard parameters.temperature == 0 else { continue }
                #expect(out[Int(token.token)] == out.max())
            }
        }

        @Test("A greedy draw among few or many allowed tokens is the first of the largest, beside NaNs and infinities")
        func greedy() {
            var generator = SeededGenerator(seed: 5)
            let width = 4_200
            let odd: [Float] = [.nan, .infinity, -.infinity, 9]
            for index in 0..<32 {
                // Coarse, so that many are equal.
                var logits = (0..<width).map { _ in (generator.normal() * 4).rounded() }
                let threshold: Float = [-3, -1, 0.3, .infinity][index % 4]
                let isAllowed = (0..<width).map { _ in generator.normal() < threshold }
                if index >= 8 { logits[(index * 577) % width] = odd[index / 4 % 4] }
                var words = [UInt32](repeating: 0, count: (width + 31) / 32)
                var out = logits
                for token in 0..<width {
                    if isAllowed[token] { words[token / 32] |= 1 << UInt32(token % 32) } else { out[token] = -.infinity }
                }
                let request = SampleRequest(parameters: SamplingParameters())
                #expect(
                    Sampler.draw(logits, request, position: 0, allowed: words)?.token
                        == Sampler.argmax(out).map { Int32($0) })
            }
        }

        @Test("One allowed token is certain, whatever the filters; more alternatives than are allowed are not told")
        func certain() throws {
            let logits = (0..<70).map { Float($0) }
            for index in 0..<12 {
                var parameters = parameters(index)
                parameters.logprobsTop = 5
                parameters.minP = 0.3
                let request = SampleRequest(parameters: parameters)
                let token = try #require(Sampler.draw(logits, request, position: 1, allowed: [0, 0, 1 << 2]))
                #expect(token == SampledToken(token: 66, logprob: 0, top: [TokenLogprob(token: 66, logprob: 0)]))
            }
            #expect(Sampler.draw(logits, SampleRequest(parameters: SamplingParameters()), position: 0, allowed: []) == nil)
        }

        @Test("A forced token has the probability that the model gives it")
        func forced() throws {
            var parameters = SamplingParameters()
            #expect(Sampler.force(1, [.nan, 0], SampleRequest(parameters: parameters)) == SampledToken(token: 1))
            parameters.logprobsTop = 1
            let request = SampleRequest(parameters: parameters)
            let token = try #require(Sampler.force(1, [log(3), 0], request))
            #expect(token.token == 1 && abs(token.logprob - log(0.25)) < 1e-6)
            #expect(token.top.map(\.token) == [0])
            #expect(Sampler.force(1, [.nan, 0], request) == nil)
        }

        @Test("Masked sequences in shared steps, told in time or late, draw what each draws alone")
        func together() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g32"))
            let indices = Array(0..<12)
            let alone = try indices.map { try run([$0], on: runner, steps: 6, late: false)[0] }
            #expect(try run(indices, on: runner, steps: 6, late: false) == alone)
            #expect(try run(indices, on: runner, steps: 6, late: true) == alone)
        }

        @Test("A free draw from kept logits is the draw of the step; kept logits are gone with the next segment")
        func kept() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g64"))
            let sample = SampleRequest(parameters: parameters(1), history: [9, 8], completionStart: 2)
            for id: UInt32 in [1, 2] { try runner.open(SequenceID(id), capacityTokens: 8) }
            let outcomes = try runner.step([
                Segment(sequence: SequenceID(1), tokens: [9, 8], position: 0, sample: nil, holds: true),
                Segment(sequence: SequenceID(2), tokens: [9, 8], position: 0, sample: sample),
            ])
            guard case .held = outcomes[0], case .sampled(let drawn) = outcomes[1] else {
                Issue.record("\(outcomes)")
                return
            }
            let draw = HeldDraw(sequence: SequenceID(1), sample: sample, choice: .free)
            for _ in 0..<2 {
                guard case .sampled(drawn) = try runner.draw([draw])[0] else {
                    Issue.record("not what the step drew")
                    return
                }
            }
            _ = try runner.step([Segment(sequence: SequenceID(1), tokens: [1], position: 2, sample: nil)])
            guard case .failed(let error) = try runner.draw([draw])[0] else {
                Issue.record("logits of an older row were drawn from")
                return
            }
            #expect(error.message.contains("holds no logits"))
        }
    }
}
