/// A request as it is submitted, and the checks that need no model's state.

/// One generation to be made: `rmx_params` and its arrays.
public struct EngineRequest: Sendable {
    /// Nonzero, unique among live requests.
    public var tag: UInt32
    /// Handle of a ready model.
    public var model: UInt32
    /// Token ids, at least one.
    public var prompt: [Int32]
    /// Ids that end the request, reported as a TOKEN first.
    public var endTokens: [Int32] = []
    /// > 0. The context may end the request earlier, with LENGTH.
    public var maxTokens: Int
    /// How tokens are drawn.
    public var sampling = SamplingParameters()
    /// End tokens do not end the request.
    public var ignoreEnd = false
    /// No position is drawn before it was told what may be drawn there.
    public var masked = false
    /// Fairness key: requests of one client share their turn.
    public var client: UInt32 = 0
    /// Higher is admitted first, strictly; 0 is normal.
    public var priority: Int32 = 0
    /// From submit; 0: none. Past it the request ends with CANCELLED.
    public var deadlineMs: UInt32 = 0
    /// The rest greedy and off.
    public init(tag: UInt32, model: UInt32, prompt: [Int32], maxTokens: Int) {
        self.tag = tag
        self.model = model
        self.prompt = prompt
        self.maxTokens = maxTokens
    }
}

extension EngineRequest {
    /// Checks every field that a caller can get wrong.
    /// - Throws: `argument`, naming the field, what was found and what is wanted.
    func check(against model: ModelDescription) throws(EngineError) {
        guard tag != 0 else { throw EngineError(.argument, "The tag is 0; wanted is a nonzero number") }
        guard !prompt.isEmpty else { throw EngineError(.argument, "The prompt is empty; wanted is at least one token") }
        guard prompt.count < model.contextTokens else {
            throw EngineError(
                .argument,
                "The prompt has \(prompt.count) tokens; the context of \(model.contextTokens) has no room for one more")
        }
        guard maxTokens > 0 else { throw EngineError(.argument, "max_tokens is \(maxTokens); wanted is at least 1") }
        guard endTokens.count <= Limits.endTokensMax else {
            throw EngineError(
                .argument, "\(endTokens.count) end tokens; wanted are at most \(Limits.endTokensMax)")
        }
        let vocabulary = Int32(clamping: model.vocabularySize)
        if let i = prompt.firstIndex(where: { $0 < 0 || $0 >= vocabulary }) {
            throw EngineError(
                .argument, "Token \(i) of the prompt is \(prompt[i]); wanted is 0 to \(vocabulary - 1)")
        }
        try sampling.check(vocabulary: vocabulary)
    }
}

extension SamplingParameters {
    /// Whether `SampleRequest.history` is read.
    var needsHistory: Bool {
        repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0
    }

    /// Checks the ranges of rmx.h; every comparison is false for NaN.
    /// - Throws: `argument`.
    func check(vocabulary: Int32) throws(EngineError) {
        func want(_ holds: Bool, _ name: String, _ found: Any, _ wanted: String) throws(EngineError) {
            if !holds { throw EngineError(.argument, "\(name) is \(found); wanted is \(wanted)") }
        }
        try want(seed < 1 << 63, "seed", seed, "a number below 2^63")
        try want(temperature >= 0 && temperature.isFinite, "temperature", temperature, "0 (greedy) or more")
        try want(topP > 0 && topP <= 1, "top_p", topP, "over 0, up to 1")
        try want(minP >= 0 && minP <= 1, "min_p", minP, "0 to 1")
        try want(topK >= 0, "top_k", topK, "0 (off) or more")
        try want(
            repetitionPenalty > 0 && repetitionPenalty.isFinite, "repetition_penalty", repetitionPenalty, "over 0")
        try want(abs(presencePenalty) <= 2, "presence_penalty", presencePenalty, "-2 to 2")
        try want(abs(frequencyPenalty) <= 2, "frequency_penalty", frequencyPenalty, "-2 to 2")
        try want(penaltyWindowTokens >= 0, "penalty_window_tokens", penaltyWindowTokens, "0 (whole context) or more")
        let top = logprobsTop ?? 0
        try want(0...Limits.logprobsTopMax ~= top, "logprobs_top", top, "0 to \(Limits.logprobsTopMax)")
        try want(
            logitBias.count <= Limits.logitBiasMax, "The length of the logit bias", logitBias.count,
            "at most \(Limits.logitBiasMax)")
        for bias in logitBias {
            try want(0..<vocabulary ~= bias.token, "A token of the logit bias", bias.token, "0 to \(vocabulary - 1)")
            // Minus infinity forbids a token; plus infinity and NaN would leave no distribution.
            try want(bias.logprob < .infinity, "A logit bias", bias.logprob, "a number, or minus infinity")
        }
    }
}
