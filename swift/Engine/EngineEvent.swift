/// What the engine says: the events of rmx.h as Swift values. The bridge lays them out as `rmx_event` and bytes.

/// Why a request ended.
public enum FinishResult: Sendable, Equatable {
    /// The last TOKEN was an end token.
    case stop
    /// `max_tokens` or the context is used up.
    case length
    /// By `cancel`, a deadline, an unload or a close; the sentence says which.
    case cancelled(String)
    /// The request could not go on.
    case failed(EngineError)
}

/// What a request cost; the fields of `rmx_usage`.
public struct RequestUsage: Sendable, Equatable {
    /// Tokens of the prompt; 0 if the request never ran.
    public var promptTokens = 0
    /// Of those, taken from a cache.
    public var cachedTokens = 0
    /// Tokens drawn, the end token included.
    public var completionTokens = 0
    /// Proposed by drafting.
    public var draftedTokens = 0
    /// Of those, kept.
    public var acceptedTokens = 0
    /// As submitted.
    public var seed: UInt64 = 0
    /// Submit to first step, microseconds; 0 if there was none.
    public var queueUs: UInt64 = 0
    /// First step to the first token, or to the end if there was none.
    public var prefillUs: UInt64 = 0
    /// First token to the last.
    public var decodeUs: UInt64 = 0
    /// All zero.
    public init() {}
}

/// Weight of a log line; raw values are the `status` of RMX_EVENT_LOG.
public enum LogLevel: Int32, Sendable {
    case debug = 0, info, warning, error
}

/// One thing that happened.
public enum EngineEvent: Sendable, Equatable {
    /// Loading goes on; 0 to 1000.
    case modelProgress(model: UInt32, perMille: Int)
    /// The model takes requests.
    case modelReady(model: UInt32)
    /// The load ended without a model; the handle is free.
    case modelFailed(model: UInt32, error: EngineError)
    /// The model is gone; the handle is free.
    case modelUnloaded(model: UInt32)
    /// Prompt tokens in the cache.
    case prefill(tag: UInt32, doneTokens: Int)
    /// A token was drawn; `index` counts from 0.
    case token(tag: UInt32, index: Int, token: SampledToken)
    /// The last event of a request.
    case finish(tag: UInt32, result: FinishResult, usage: RequestUsage)
    /// A line for the log.
    case log(level: LogLevel, line: String)

    /// The request concerned, if any.
    public var requestTag: UInt32? {
        switch self {
        case .prefill(let tag, _), .token(let tag, _, _), .finish(let tag, _, _): tag
        default: nil
        }
    }

    /// Bytes of the payload as rmx.h lays it out, padded to 8.
    public var payloadBytes: Int {
        let bytes =
            switch self {
            case .modelProgress, .modelReady, .modelUnloaded, .prefill: 0
            case .modelFailed(_, let error): error.message.utf8.count
            case .token(_, _, let token): 8 * token.top.count
            case .finish(_, .stop, _), .finish(_, .length, _): 64
            case .finish(_, .cancelled(let message), _): 64 + message.utf8.count
            case .finish(_, .failed(let error), _): 64 + error.message.utf8.count
            case .log(_, let line): line.utf8.count
            }
        return (bytes + 7) & ~7
    }
}

/// What one `wait` brought.
public struct EventBatch: Sendable {
    /// In order; empty after a timeout or a wake.
    public var events: [EngineEvent]
    /// Left in the queue.
    public var pendingCount: Int
}

extension String {
    /// At most `Limits.messageBytesMax` bytes of UTF-8, cut at a character.
    var boundedMessage: String {
        guard utf8.count > Limits.messageBytesMax else { return self }
        var bytes = 3  // of the ellipsis
        let kept = prefix { character in
            bytes += character.utf8.count
            return bytes <= Limits.messageBytesMax
        }
        return kept + "…"
    }
}
