/// Counters of an engine. Encoded as JSON they are the text of `rmx_engine_stats`.

/// Totals since open, unless said otherwise; a snapshot between two steps.
public struct EngineStatistics: Sendable, Equatable, Codable {
    /// Requests holding a sequence, now.
    public var running = 0
    /// Requests accepted and not yet running, now.
    public var waiting = 0
    /// Ready models, now.
    public var models = 0
    /// Steps executed, failed ones included.
    public var steps = 0
    /// Requests accepted.
    public var submitted = 0
    /// Finished with stop or length.
    public var completed = 0
    /// Finished with cancelled.
    public var cancelled = 0
    /// Finished with an error.
    public var failed = 0
    /// Prompt tokens run.
    public var prefillTokens = 0
    /// Tokens drawn.
    public var completionTokens = 0
    /// Time inside steps.
    public var stepUs: UInt64 = 0
    /// Of the last step.
    public var lastStepUs: UInt64 = 0
    /// Cache bytes that open sequences have reserved, now: their worst case.
    public var kvBytes = 0
    /// Bytes the allocator holds, after the last step.
    public var activeMemoryBytes = 0
    /// Its high-water mark.
    public var peakMemoryBytes = 0
    /// Freed buffers it keeps.
    public var cacheMemoryBytes = 0
    /// Model handles not yet freed, now. The bridge adds nothing: an engine's own handle is what it asks with.
    public var openHandles = 0
    /// The weakest of the ready models; `none` without one.
    public var exactness = Exactness.none
    /// All zero.
    public init() {}

    /// Its JSON with sorted keys, as an encoder would write it. By hand, because `rmx_engine_stats` promises 50 us and
    /// Foundation's encoder takes longer.
    public var json: [UInt8] {
        let members: [(key: CodingKeys, value: String)] = [
            (.activeMemoryBytes, String(activeMemoryBytes)), (.cacheMemoryBytes, String(cacheMemoryBytes)),
            (.cancelled, String(cancelled)), (.completed, String(completed)),
            (.completionTokens, String(completionTokens)), (.exactness, "\"\(exactness.rawValue)\""),
            (.failed, String(failed)), (.kvBytes, String(kvBytes)), (.lastStepUs, String(lastStepUs)),
            (.models, String(models)), (.openHandles, String(openHandles)),
            (.peakMemoryBytes, String(peakMemoryBytes)), (.prefillTokens, String(prefillTokens)),
            (.running, String(running)), (.stepUs, String(stepUs)), (.steps, String(steps)),
            (.submitted, String(submitted)), (.waiting, String(waiting)),
        ]
        let texts = members.map { "\"\($0.key.stringValue)\":\($0.value)" }
        return Array("{\(texts.joined(separator: ","))}".utf8)
    }

    /// The keys of the JSON.
    enum CodingKeys: String, CodingKey {
        case running, waiting, models, steps, submitted, completed, cancelled, failed
        case prefillTokens = "prefill_tokens"
        case completionTokens = "completion_tokens"
        case stepUs = "step_us"
        case lastStepUs = "last_step_us"
        case kvBytes = "kv_bytes"
        case activeMemoryBytes = "active_memory_bytes"
        case peakMemoryBytes = "peak_memory_bytes"
        case cacheMemoryBytes = "cache_memory_bytes"
        case openHandles = "open_handles"
        case exactness
    }
}

extension ModelDescription: Encodable {
    /// The keys of the JSON of `rmx_model_info`; exactness travels with the statistics.
    enum CodingKeys: String, CodingKey {
        case modelType = "model_type"
        case vocabularySize = "vocabulary_size"
        case contextTokens = "context_tokens"
        case weightBytes = "weight_bytes"
        case kvBytesPerToken = "kv_bytes_per_token"
        case quantization, dtype
    }

    /// Writes the seven fields of `ModelInfo`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(modelType, forKey: .modelType)
        try container.encode(vocabularySize, forKey: .vocabularySize)
        try container.encode(contextTokens, forKey: .contextTokens)
        try container.encode(weightBytes, forKey: .weightBytes)
        try container.encode(kvBytesPerToken, forKey: .kvBytesPerToken)
        try container.encode(quantization, forKey: .quantization)
        try container.encode(dtype, forKey: .dtype)
    }
}
