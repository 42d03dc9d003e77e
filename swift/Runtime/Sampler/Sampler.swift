/// Draws one token from one row of logits: a pure function of (seed, position, logits, history).
///
/// Order: logit bias, repetition, presence and frequency penalties · the mask, if there is one · log probabilities, if
/// asked for · temperature 0: argmax, the lowest id on ties · else top-k, top-p, min-p on logits / T, then argmax of
/// logit / T + G(seed, position, id). Reported probabilities are those before temperature and filters, as the OpenAI
/// API has it.

import Engine
#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels

/// Sampling on the CPU, over float32 rows.
enum Sampler {
    /// Whether a row's argmax on the device is the token, so that the row need not be copied.
    static func isPlainArgmax(_ parameters: SamplingParameters) -> Bool {
        parameters.temperature == 0 && parameters.logprobsTop == nil && !Penalties.active(parameters)
    }

    /// - Parameters:
    ///   - logits: [V], V > 0.
    ///   - position: Absolute position of the token to draw.
    ///   - allowed: Bit t % 32 of word t / 32 for token t: all others are out. Nil: all may be drawn.
    /// - Returns: Nil when the row holds a NaN, or nothing that is left is above -infinity.
    static func draw(
        _ logits: [Float], _ request: SampleRequest, position: Int, allowed: [UInt32]? = nil
    ) -> SampledToken? {
        if let allowed, isPlainArgmax(request.parameters), let best = TokenMask.best(allowed, of: logits) {
            return best.map { SampledToken(token: Int32($0)) }
        }
        var logits = logits
        Penalties.apply(request, to: &logits)
        if let allowed { TokenMask.apply(allowed, to: &logits) }
        guard let best = argmax(logits) else { return nil }
        let parameters = request.parameters
        let token = parameters.temperature > 0 ? keyed(logits, parameters, position: position, best: best) : best
        guard let count = parameters.logprobsTop else { return SampledToken(token: Int32(token)) }
        return withProbabilities(logits, token: token, best: best, count: count)
    }

    /// A token that is known, with the probabilities that a draw would have.
    /// - Returns: Nil when they are asked for and the row holds a NaN, or nothing above -infinity.
    static func force(_ token: Int32, _ logits: [Float], _ request: SampleRequest) -> SampledToken? {
        guard let count = request.parameters.logprobsTop else { return SampledToken(token: token) }
        var logits = logits
        Penalties.apply(request, to: &logits)
        guard logits.indices.contains(Int(token)), let best = argmax(logits) else { return nil }
        return withProbabilities(logits, token: Int(token), best: best, count: count)
    }

    /// The lowest id among the largest.
    /// - Returns: Nil when a NaN makes the question void, or when all are -infinity.
    static func argmax(_ logits: [Float]) -> Int? {
        LogitRow.best(logits)
    }

    private static func keyed(
        _ logits: [Float], _ parameters: SamplingParameters, position: Int, best: Int
    ) -> Int {
        let noise = Noise(seed: parameters.seed, position: position)
        let temperature = Double(parameters.temperature)
        if let kept = Candidates.keep(
            logits, temperature: temperature, topK: parameters.topK, topP: Double(parameters.topP),
            minP: Double(parameters.minP))
        {
            return pick(kept, noise)
        }
        return keyedOverRow(
            logits, temperature: temperature, minP: Double(parameters.minP), noise, best: best)
    }

    /// The draw when every token is a candidate, or all within ln(minP) of the best. The best token gives a first
    /// score; a token that its noise can't lift there is skipped without a logarithm.
    private static func keyedOverRow(
        _ logits: [Float], temperature: Double, minP: Double, _ noise: Noise, best: Int
    ) -> Int {
        let top = Double(logits[best]) / temperature
        var winner = best
        var score = top + noise.gumbel(best)
        let floor = max(score - Noise.ceiling, minP > 0 ? top + log(minP) : -.infinity)
        let hopeful = LogitRow.indices(of: logits, temperature: temperature, from: floor)
        for token in hopeful {
            let scaled = Double(logits[Int(token)]) / temperature
            guard noise.mayReach(score - scaled, Int(token)) else { continue }
            let perturbed = scaled + noise.gumbel(Int(token))
            if perturbed > score || (perturbed == score && token < winner) {
                winner = Int(token)
                score = perturbed
            }
        }
        return winner
    }

    private static func pick(_ kept: [Candidate], _ noise: Noise) -> Int {
        var winner = kept[0].token
        var score = kept[0].scaled + noise.gumbel(winner)
        for candidate in kept.dropFirst() {
            let perturbed = candidate.scaled + noise.gumbel(candidate.token)
            if perturbed > score || (perturbed == score && candidate.token < winner) {
                winner = candidate.token
                score = perturbed
            }
        }
        return winner
    }

    private static func withProbabilities(_ logits: [Float], token: Int, best: Int, count: Int) -> SampledToken {
        let top = Double(logits[best])
        let normalizer = top + log(LogitRow.mass(of: logits, temperature: 1, best: top))
        let alternatives = count > 0 ? Candidates.best(count, of: logits, temperature: 1) : []
        return SampledToken(
            token: Int32(token), logprob: Float(Double(logits[token]) - normalizer),
            // What a mask or a bias forbids is no alternative.
            top: alternatives.filter { $0.scaled > -.infinity }.map {
                TokenLogprob(token: Int32($0.token), logprob: Float($0.scaled - normalizer))
            })
    }
}
