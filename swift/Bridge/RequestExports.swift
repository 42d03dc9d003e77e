/// Exports of the header's section "Requests". Here: pointers, sizes and flags. Ranges, tokens and limits are the
/// engine's to check (`EngineRequest.check`), so that there is one place that knows them.

import CABI
import Engine

/// `rmx_request_submit`.
@_cdecl("rmx_request_submit")
public func requestSubmit(
    _ engine: rmx_engine, _ model: rmx_model, _ params: UnsafePointer<rmx_params>?,
    _ tokens: UnsafePointer<Int32>?, _ tokenCount: UInt32, _ endTokens: UnsafePointer<Int32>?,
    _ endTokenCount: UInt32, _ logitBias: UnsafePointer<rmx_alternative>?, _ logitBiasCount: UInt32,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let open = try Engines.shared.require(engine)
        // The context bounds what is copied: no prompt over it can be accepted.
        let contextTokens = try open.modelInfo(model).contextTokens
        let given = try copyParams(params)
        var request = EngineRequest(
            tag: given.tag, model: model, prompt: try copy(tokens, tokenCount, "The prompt", most: contextTokens),
            maxTokens: Int(given.max_tokens))
        request.endTokens = try copy(endTokens, endTokenCount, "end_tokens", most: Limits.endTokensMax)
        request.sampling = sampling(given)
        request.sampling.logitBias = try copy(logitBias, logitBiasCount, "logit_bias", most: Limits.logitBiasMax)
            .map { TokenLogprob(token: $0.token, logprob: $0.logprob) }
        request.masked = given.flags & RMX_REQUEST_MASKED.rawValue != 0
        request.ignoreEnd = given.flags & RMX_REQUEST_IGNORE_END.rawValue != 0
        request.client = given.client
        request.priority = given.priority
        request.deadlineMs = given.deadline_ms
        try open.submit(request)
    }
}

/// `rmx_request_cancel`.
@_cdecl("rmx_request_cancel")
public func requestCancel(
    _ engine: rmx_engine, _ tag: UInt32, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) { try Engines.shared.require(engine).cancel(tag: tag) }
}

/// Copies the parameters.
/// - Throws: `argument` if the size is not this library's, a flag is unknown or a reserved field is set.
private func copyParams(_ params: UnsafePointer<rmx_params>?) throws(EngineError) -> rmx_params {
    guard let params else { throw EngineError(.argument, "params is null; wanted is a pointer") }
    let size = MemoryLayout<rmx_params>.size
    // `size` alone is read first: the caller's struct may be shorter than this one.
    let raw = UnsafeRawPointer(params)
    let sizeGiven = raw.loadUnaligned(as: UInt32.self)
    guard sizeGiven == size else {
        throw EngineError(.argument, "size of rmx_params is \(sizeGiven); wanted is \(size)")
    }
    let given = raw.loadUnaligned(as: rmx_params.self)
    let known = RMX_REQUEST_LOGPROBS.rawValue | RMX_REQUEST_IGNORE_END.rawValue | RMX_REQUEST_MASKED.rawValue
    guard given.flags & ~known == 0 else {
        throw EngineError(.argument, "flags is \(given.flags); wanted are bits of \(known)")
    }
    guard given.reserved == 0, given.reserved2 == 0 else {
        throw EngineError(.argument, "reserved is \(given.reserved), \(given.reserved2); wanted is 0")
    }
    guard given.logprobs_top == 0 || given.flags & RMX_REQUEST_LOGPROBS.rawValue != 0 else {
        throw EngineError(.argument, "logprobs_top is \(given.logprobs_top) without RMX_REQUEST_LOGPROBS; wanted is 0")
    }
    return given
}

private func sampling(_ given: rmx_params) -> SamplingParameters {
    var sampling = SamplingParameters()
    sampling.seed = given.seed
    sampling.temperature = given.temperature
    sampling.topP = given.top_p
    sampling.minP = given.min_p
    sampling.topK = Int(given.top_k)
    sampling.repetitionPenalty = given.repetition_penalty
    sampling.presencePenalty = given.presence_penalty
    sampling.frequencyPenalty = given.frequency_penalty
    sampling.penaltyWindowTokens = Int(given.penalty_window_tokens)
    if given.flags & RMX_REQUEST_LOGPROBS.rawValue != 0 { sampling.logprobsTop = Int(given.logprobs_top) }
    return sampling
}
