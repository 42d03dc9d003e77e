/// What a submit refuses: every field of rmx_params at and over its edges.

import Foundation
import Testing

@testable import Engine

@Suite("Request checks")
struct EngineRequestTests {
    /// What the check says after a change; nil if it accepts.
    private func refusal(_ change: (inout EngineRequest) -> Void) -> String? {
        var request = EngineRequest(tag: 1, model: 1, prompt: [1, 2, 3], maxTokens: 4)
        change(&request)
        do {
            try request.check(against: .fake(contextTokens: 8))
            return nil
        } catch {
            #expect(error.code == .argument)
            return error.message
        }
    }

    @Test("A plain request and values at their edges pass")
    func edges() {
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.prompt = Array(repeating: 99, count: 7) } == nil)
        #expect(refusal { $0.maxTokens = .max } == nil)
        #expect(
            refusal {
                $0.sampling.seed = 1 << 63 - 1
                $0.sampling.topP = 1
                $0.sampling.minP = 1
                $0.sampling.presencePenalty = -2
                $0.sampling.frequencyPenalty = 2
                $0.sampling.logprobsTop = 20
                $0.sampling.logitBias = [TokenLogprob(token: 99, logprob: -.infinity)]
            } == nil)
    }

    @Test("Shapes are checked by name")
    func shapes() {
        #expect(refusal { $0.tag = 0 }?.contains("tag") == true)
        #expect(refusal { $0.prompt = [] }?.contains("prompt is empty") == true)
        #expect(refusal { $0.prompt = Array(repeating: 1, count: 8) }?.contains("context of 8") == true)
        #expect(refusal { $0.prompt[1] = 100 } == "Token 1 of the prompt is 100; wanted is 0 to 99")
        #expect(refusal { $0.prompt[2] = -1 }?.contains("Token 2") == true)
        #expect(refusal { $0.maxTokens = 0 }?.contains("max_tokens") == true)
        #expect(refusal { $0.maxTokens = -5 }?.contains("max_tokens") == true)
        #expect(refusal { $0.endTokens = Array(repeating: 1, count: 65) }?.contains("end tokens") == true)
    }

    @Test(
        "Sampling values out of range are refused by name",
        arguments: [.nan, -1, .infinity, -.infinity] as [Float])
    func badNumbers(_ value: Float) {
        #expect(refusal { $0.sampling.temperature = value }?.contains("temperature") == true)
        #expect(refusal { $0.sampling.topP = value }?.contains("top_p") == true)
        #expect(refusal { $0.sampling.minP = value }?.contains("min_p") == true)
        #expect(refusal { $0.sampling.repetitionPenalty = value }?.contains("repetition_penalty") == true)
        #expect(refusal { $0.sampling.presencePenalty = value * 3 }?.contains("presence_penalty") == true)
        #expect(refusal { $0.sampling.frequencyPenalty = value * 3 }?.contains("frequency_penalty") == true)
    }

    @Test("The rest of sampling too")
    func sampling() {
        #expect(refusal { $0.sampling.seed = 1 << 63 }?.contains("seed") == true)
        #expect(refusal { $0.sampling.topP = 0 }?.contains("top_p") == true)
        #expect(refusal { $0.sampling.topK = -1 }?.contains("top_k") == true)
        #expect(refusal { $0.sampling.penaltyWindowTokens = -1 }?.contains("penalty_window_tokens") == true)
        #expect(refusal { $0.sampling.logprobsTop = 21 }?.contains("logprobs_top") == true)
        #expect(refusal { $0.sampling.logprobsTop = -1 }?.contains("logprobs_top") == true)
        let bias = TokenLogprob(token: 1, logprob: 1)
        #expect(
            refusal { $0.sampling.logitBias = Array(repeating: bias, count: Limits.logitBiasMax + 1) }?
                .contains("logit bias") == true)
        for wrong in [
            TokenLogprob(token: 100, logprob: 0), TokenLogprob(token: -1, logprob: 0),
            TokenLogprob(token: 1, logprob: .nan), TokenLogprob(token: 1, logprob: .infinity),
        ] {
            #expect(refusal { $0.sampling.logitBias = [wrong] }?.contains("logit bias") == true)
        }
    }
}

@Suite("Statistics as JSON")
struct EngineStatisticsTests {
    /// The keys of `EngineStats` in src/ffi/core.ts, in snake_case.
    private static let statisticsKeys: Set<String> = [
        "running", "waiting", "models", "steps", "submitted", "completed", "cancelled", "failed", "prefill_tokens",
        "completion_tokens", "step_us", "last_step_us", "kv_bytes", "active_memory_bytes", "peak_memory_bytes",
        "cache_memory_bytes", "open_handles", "exactness",
    ]

    private func object(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
    }

    @Test("Statistics have the keys that the server reads")
    func statistics() throws {
        let json = try object(EngineStatistics())
        #expect(Set(json.keys) == Self.statisticsKeys)
        #expect(json["exactness"] as? String == "none")
    }

    @Test("The JSON by hand is what an encoder writes")
    func statisticsByHand() throws {
        var statistics = EngineStatistics()
        let members: [WritableKeyPath<EngineStatistics, Int>] = [
            \.running, \.waiting, \.models, \.steps, \.submitted, \.completed, \.cancelled, \.failed, \.prefillTokens,
            \.completionTokens, \.kvBytes, \.activeMemoryBytes, \.peakMemoryBytes, \.cacheMemoryBytes, \.openHandles,
        ]
        for (number, member) in members.enumerated() { statistics[keyPath: member] = 1000 + number }
        statistics.stepUs = .max
        statistics.lastStepUs = 7
        statistics.exactness = .window
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try statistics.json == Array(encoder.encode(statistics)))
    }

    @Test("A model's facts have the keys that the server reads")
    func model() throws {
        let json = try object(ModelDescription.fake(contextTokens: 12))
        #expect(
            Set(json.keys) == [
                "model_type", "vocabulary_size", "context_tokens", "weight_bytes", "kv_bytes_per_token",
                "quantization", "dtype",
            ])
        #expect(json["context_tokens"] as? Int == 12)
    }

    @Test("Exactness is ordered from none to full")
    func exactness() {
        #expect(Exactness.allCases.sorted() == [.none, .window, .full])
        #expect([Exactness.full, .window].min() == .window)
    }
}
