/// A model that counts: after a prompt of n tokens it says n, n + 1, n + 2 … so a test knows every token beforehand.

import Engine

/// Loads `counting`; any other path is missing.
final class CountingLoader: ModelLoader {
    func load(path: String, options: ModelOptions, progress: (Int) -> Void) throws -> any StepRunner {
        guard path == "counting" else { throw EngineError(.io, "There is no checkpoint \(path)") }
        progress(500)
        return CountingRunner(contextTokens: options.contextTokens ?? 64)
    }

    func estimate(path: String, options: ModelOptions) throws -> (weightBytes: Int, kvBytesPerToken: Int) {
        guard path == "counting" else { throw EngineError(.io, "There is no checkpoint \(path)") }
        return (1000, 2)
    }

    func memory() -> (activeBytes: Int, peakBytes: Int, cacheBytes: Int) { (3, 4, 5) }
    func trimMemory() {}
}

/// Draws the position of each token. Vocabulary: 100.
final class CountingRunner: StepRunner {
    let description: ModelDescription

    init(contextTokens: Int) {
        description = ModelDescription(
            modelType: "counting", vocabularySize: 100, contextTokens: contextTokens, weightBytes: 1000,
            kvBytesPerToken: 2, quantization: "none", dtype: "float32")
    }

    func open(_ sequence: SequenceID, capacityTokens: Int) throws {}
    func close(_ sequence: SequenceID) {}

    func step(_ segments: [Segment]) throws -> [SegmentOutcome] {
        segments.map { segment in
            if segment.holds { return .held }
            guard let sample = segment.sample else { return .advanced }
            let token = Int32(segment.position + segment.tokens.count)
            guard token != 66 else { return .failed(EngineError(.internal, "The counter stops at 66: \u{1F6D1}")) }
            let top = (0..<(sample.parameters.logprobsTop ?? 0)).map {
                TokenLogprob(token: token + Int32($0), logprob: -Float($0))
            }
            return .sampled(SampledToken(token: token, logprob: top.isEmpty ? 0 : -0.25, top: top))
        }
    }

    /// The lowest token that is allowed.
    func draw(_ draws: [HeldDraw]) throws -> [SegmentOutcome] {
        draws.map { draw in
            switch draw.choice {
            case .free: .sampled(SampledToken(token: 0))
            case .mask(let words):
                .sampled(SampledToken(token: (0..<100).first { words[Int($0) / 32] >> UInt32($0 % 32) & 1 == 1 } ?? -1))
            case .force(let token): .sampled(SampledToken(token: token))
            }
        }
    }
}
