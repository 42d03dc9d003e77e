/// What changes logits before anything is drawn: bias, then repetition, presence and frequency penalties.
///
/// Order and formulas as mlx-lm `sample_utils.py` at d78bf58; which tokens count is as the OpenAI API defines presence
/// and frequency (the completion) and as the repetition penalty is used everywhere (prompt and completion, within a
/// window).

import Engine

/// Adjusts one row of logits.
enum Penalties {
    /// Whether any of them is on.
    static func active(_ parameters: SamplingParameters) -> Bool {
        !parameters.logitBias.isEmpty || parameters.repetitionPenalty != 1 || parameters.presencePenalty != 0
            || parameters.frequencyPenalty != 0
    }

    /// - Parameters:
    ///   - logits: [V], changed in place.
    ///   - request: Parameters, and the tokens so far. Tokens outside V are not touched.
    static func apply(_ request: SampleRequest, to logits: inout [Float]) {
        let parameters = request.parameters
        for bias in parameters.logitBias where logits.indices.contains(Int(bias.token)) {
            logits[Int(bias.token)] += bias.logprob
        }
        repetition(request, to: &logits)
        guard parameters.presencePenalty != 0 || parameters.frequencyPenalty != 0 else { return }
        let start = min(max(request.completionStart, 0), request.history.count)
        var counts: [Int: Int] = [:]
        for token in request.history[start...] { counts[Int(token), default: 0] += 1 }
        for (token, count) in counts where logits.indices.contains(token) {
            logits[token] -= parameters.presencePenalty
            logits[token] -= parameters.frequencyPenalty * Float(count)
        }
    }

    /// Divides positive logits by the penalty and multiplies negative ones, once for each distinct token.
    private static func repetition(_ request: SampleRequest, to logits: inout [Float]) {
        let penalty = request.parameters.repetitionPenalty
        guard penalty != 1 else { return }
        let window = request.parameters.penaltyWindowTokens
        let recent = window > 0 ? request.history.suffix(window) : request.history[...]
        for token in Set(recent) where logits.indices.contains(Int(token)) {
            let logit = logits[Int(token)]
            logits[Int(token)] = logit < 0 ? logit * penalty : logit / penalty
        }
    }
}
