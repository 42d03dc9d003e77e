/// What the fake runner computes, as plain functions: the oracle of every test that says together = alone.

@testable import Engine

/// A model whose next token is a pure function of (rows, sampling, history).
enum FakeModel {
    /// Tokens are 0 to 99.
    static let vocabularySize = 100

    /// Folds one row into the state of a cache.
    static func extend(_ state: UInt64, _ token: Int32) -> UInt64 {
        (state ^ UInt64(UInt32(bitPattern: token))) &* 0x100_0000_01B3 &+ 0x9E37_79B9
    }

    /// The state of a cache that holds these rows.
    static func state(_ rows: some Sequence<Int32>) -> UInt64 {
        rows.reduce(0xCBF2_9CE4_8422_2325, extend)
    }

    /// The token after a cache in `state`, at `position`.
    static func draw(_ state: UInt64, position: Int, _ sample: SampleRequest) -> SampledToken {
        var mixed = state
        if sample.parameters.temperature > 0 {
            mixed ^= sample.parameters.seed &* 0xD6E8_FEB8_6659_FD93 &+ UInt64(position)
        }
        if !sample.history.isEmpty {
            mixed ^= self.state(sample.history) &+ UInt64(sample.completionStart)
        }
        mixed ^= mixed >> 29
        mixed = mixed &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 32
        let token = Int32(mixed % UInt64(vocabularySize))
        let top = (0..<(sample.parameters.logprobsTop ?? 0)).map { i in
            TokenLogprob(token: (token + Int32(i)) % Int32(vocabularySize), logprob: -Float(i + 1))
        }
        return SampledToken(token: token, logprob: sample.parameters.logprobsTop == nil ? 0 : -1, top: top)
    }

    /// The same under a choice: a mask allows the next token upwards, around the vocabulary's end.
    static func draw(
        _ state: UInt64, position: Int, _ sample: SampleRequest, _ choice: HeldDraw.Choice
    ) -> SampledToken {
        var drawn = draw(state, position: position, sample)
        switch choice {
        case .free: break
        case .force(let token): drawn.token = token
        case .mask(let words):
            while words[Int(drawn.token) / 32] >> UInt32(drawn.token % 32) & 1 == 0 {
                drawn.token = (drawn.token + 1) % Int32(vocabularySize)
            }
        }
        return drawn
    }

    /// What a request gives when it has the engine to itself: no scheduler involved.
    static func alone(_ request: EngineRequest, contextTokens: Int) -> (tokens: [SampledToken], result: FinishResult) {
        var rows = request.prompt
        var drawn: [SampledToken] = []
        let needsHistory = request.sampling.needsHistory
        while true {
            let sample = SampleRequest(
                parameters: request.sampling, history: needsHistory ? rows : [],
                completionStart: needsHistory ? request.prompt.count : 0)
            let token = draw(state(rows), position: rows.count, sample)
            drawn.append(token)
            rows.append(token.token)
            if !request.ignoreEnd && request.endTokens.contains(token.token) { return (drawn, .stop) }
            if drawn.count == request.maxTokens || rows.count == contextTokens { return (drawn, .length) }
        }
    }
}

extension ModelDescription {
    /// A fake model's facts: 10 bytes of cache a token unless said otherwise.
    static func fake(
        contextTokens: Int = 4096, weightBytes: Int = 1000, kvBytesPerToken: Int = 10, exactness: Exactness = .full
    ) -> ModelDescription {
        ModelDescription(
            modelType: "fake", vocabularySize: FakeModel.vocabularySize, contextTokens: contextTokens,
            weightBytes: weightBytes, kvBytesPerToken: kvBytesPerToken, quantization: "none", dtype: "int",
            exactness: exactness)
    }
}
