/// Every bound of the engine, with its unit and its reason. What is over a bound is refused by name, never cut
/// silently.

/// Bounds that no config changes.
public enum Limits {
    /// Loaded or loading models. Each holds weights, so memory ends far earlier; this bounds the handle table.
    public static let modelsMax = 16
    /// Ids that may end one request. Checkpoints list up to a handful.
    public static let endTokensMax = 64
    /// Entries of a logit bias. OpenAI documents 300; the rest is room for word lists.
    public static let logitBiasMax = 4096
    /// Alternatives a token: RMX_LOGPROBS_TOP_MAX.
    public static let logprobsTopMax = 20
    /// Positions after the last token drawn for which masks and forced tokens are kept: RMX_MASK_AHEAD_MAX. A mask of a
    /// vocabulary of 151k takes 19 kB, so a request holds at most 1.2 MB of them.
    public static let maskAheadMax = 64
    /// Bytes of a message or log line in an event; longer ones are cut at a character and end in `…`.
    public static let messageBytesMax = 1024
    /// Bytes of the largest payload of one event: a usage record and a message. A buffer given to `wait` needs as much.
    public static let eventPayloadBytesMax = 64 + messageBytesMax
    /// Undrained events of one request before it is parked: a reader this far behind gains nothing from more.
    public static let eventsPerRequestMax = 1024
    /// Undrained events in all before every request is parked and submits are refused. 32 bytes and some payload each.
    public static let eventsMax = 16384
    /// Least change between two MODEL_PROGRESS events, per mille: at most 100 events a load.
    public static let progressStepPerMille = 10
    /// Requests that may be admitted before one that is ahead of them but does not fit the memory yet. Past that
    /// nothing is admitted until it fits, so a large request starves neither itself nor the engine.
    public static let overtakesMax = 8
    /// Stack of the engine thread. Graph evaluation recurses; the default of a secondary thread on macOS is 512 KiB.
    public static let engineStackBytes = 16 << 20
    /// Bytes of a config text. Six numbers fit many times over.
    public static let configBytesMax = 64 << 10
}

/// Bounds and defaults of what `rmx_engine_open` takes.
public enum ConfigLimits {
    /// Requests that hold a sequence. A row each in every step; the upper end is what one step may sensibly carry.
    public static let maxRequests = (range: 1...1024, standard: 64)
    /// Requests that wait beyond those: what a client may queue before it is told to come back later.
    public static let maxQueue = (range: 0...16384, standard: 256)
    /// Prompt tokens of one request in one step. Larger is faster for one prompt and a longer gap for running streams.
    public static let prefillChunkTokens = (range: 1...8192, standard: 256)
    /// Rows of a step: at most this many times a chunk beside one row of each running request, unless config says.
    public static let standardChunksPerStep = 2
    /// Rows of a step.
    public static let maxStepTokens = 1...65536
    /// Bytes for weights and caches.
    public static let memoryBytes = 1...(1 << 50)
    /// CPU threads; 0: what this process may use.
    public static let threads = 0...1024
}
