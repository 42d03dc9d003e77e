/// The configs that arrive as JSON, parsed once into checked values. Unknown keys and values out of range are refused
/// by name; nothing behind this file checks them again.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What `rmx_engine_open` takes.
public struct EngineConfig: Sendable, Equatable {
    /// Rounding of activations and KV on the CPU. `exact`: float32 activations and KV. `fast`: quantized products round
    /// activations to int8, KV is in the checkpoint's dtype.
    public enum CPUArithmetic: String, Sendable, CaseIterable {
        case exact, fast
    }
    /// Requests that may hold a sequence at once.
    public var maxRequests = ConfigLimits.maxRequests.standard
    /// Requests that may wait.
    public var maxQueue = ConfigLimits.maxQueue.standard
    /// Prompt tokens of one request in one step; chunk borders are multiples of it.
    public var prefillChunkTokens = ConfigLimits.prefillChunkTokens.standard
    /// Rows of one step: at least a row for each of `maxRequests` and one chunk.
    public var maxStepTokens =
        ConfigLimits.maxRequests.standard
        + ConfigLimits.standardChunksPerStep * ConfigLimits.prefillChunkTokens.standard
    /// Budget for weights and caches; nil: not given, the engine prices nothing. The bridge fills in the device's.
    public var memoryBytes: Int?
    /// CPU threads; 0: what this process may use. For the runtime.
    public var threads = 0
    /// For the runtime; nil: `fast` where this build has the CPU kernels, else MLX decides.
    public var cpuArithmetic: CPUArithmetic?

    /// The defaults.
    public init() {}

    /// Parses the JSON of `rmx_engine_open`; empty text is `{}`.
    /// - Throws: `argument`, naming the key.
    public init(json: some Sequence<UInt8>) throws(EngineError) {
        self.init()
        var reader = try ConfigReader(json, of: "the engine config")
        maxRequests = try reader.integer("max_requests", ConfigLimits.maxRequests.range) ?? maxRequests
        maxQueue = try reader.integer("max_queue", ConfigLimits.maxQueue.range) ?? maxQueue
        prefillChunkTokens =
            try reader.integer("prefill_chunk_tokens", ConfigLimits.prefillChunkTokens.range) ?? prefillChunkTokens
        maxStepTokens =
            try reader.integer("max_step_tokens", ConfigLimits.maxStepTokens)
            ?? maxRequests + ConfigLimits.standardChunksPerStep * prefillChunkTokens
        memoryBytes = try reader.integer("memory_bytes", ConfigLimits.memoryBytes)
        threads = try reader.integer("threads", ConfigLimits.threads) ?? threads
        let names = CPUArithmetic.allCases.map(\.rawValue)
        if let name = try reader.choice("cpu_arithmetic", names), let value = CPUArithmetic(rawValue: name) {
            cpuArithmetic = value
        }
        try reader.refuseUnknown()
        try check()
    }

    /// Whether the numbers go together: a step must hold a row of every running request and one whole chunk, or
    /// prefill or decode could wait for ever.
    /// - Throws: `argument`.
    func check() throws(EngineError) {
        guard maxStepTokens >= maxRequests + prefillChunkTokens else {
            throw EngineError(
                .argument,
                "The engine config has max_step_tokens \(maxStepTokens); wanted is at least max_requests "
                    + "\(maxRequests) + prefill_chunk_tokens \(prefillChunkTokens)")
        }
    }
}

extension ModelOptions {
    /// Parses the JSON of `rmx_model_load`; empty text is `{}`.
    /// - Throws: `argument`, naming the key.
    public init(json: some Sequence<UInt8>) throws(EngineError) {
        self.init()
        var reader = try ConfigReader(json, of: "the model config")
        contextTokens = try reader.integer("context_tokens", 2...(1 << 30))
        float32 = try reader.choice("dtype", ["checkpoint", "float32"]) == "float32"
        try reader.refuseUnknown()
    }
}

/// A flat JSON object, read key by key; what is left at the end is unknown.
struct ConfigReader {
    private enum Value: Decodable {
        case integer(Int)
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if (try? container.decode(Bool.self)) == nil, let value = try? container.decode(Int.self) {
                self = .integer(value)
            } else {
                self = .other
            }
        }
    }

    private let title: String
    private var values: [String: Value]
    private var known: [String] = []

    /// Reads the object. `title` names it in errors, e.g. `the engine config`.
    /// - Throws: `argument` if it is no JSON object or too long.
    init(_ json: some Sequence<UInt8>, of title: String) throws(EngineError) {
        self.title = title
        let bytes = Data(json)
        guard bytes.count <= Limits.configBytesMax else {
            throw EngineError(
                .argument, "\(title) has \(bytes.count) bytes; wanted are at most \(Limits.configBytesMax)")
        }
        if bytes.isEmpty {
            values = [:]
            return
        }
        do {
            values = try JSONDecoder().decode([String: Value].self, from: bytes)
        } catch {
            throw EngineError(.argument, "\(title) is no JSON object; wanted is e.g. {\"max_requests\":8}")
        }
    }

    /// Takes a whole number; nil if absent.
    /// - Throws: `argument` if it is something else or out of range.
    mutating func integer(_ key: String, _ range: ClosedRange<Int>) throws(EngineError) -> Int? {
        known.append(key)
        switch values.removeValue(forKey: key) {
        case nil: return nil
        case .integer(let value) where range.contains(value): return value
        case .integer(let value): throw wrong(key, "\(value)", "\(range.lowerBound) to \(range.upperBound)")
        default: throw wrong(key, "no whole number", "\(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Takes one of some words; nil if absent.
    /// - Throws: `argument` if it is something else.
    mutating func choice(_ key: String, _ words: [String]) throws(EngineError) -> String? {
        known.append(key)
        let wanted = words.joined(separator: " or ")
        switch values.removeValue(forKey: key) {
        case nil: return nil
        case .text(let word) where words.contains(word): return word
        case .text(let word): throw wrong(key, "\"\(word)\"", wanted)
        default: throw wrong(key, "no text", wanted)
        }
    }

    /// Ends the reading.
    /// - Throws: `argument` that names a key nobody took.
    func refuseUnknown() throws(EngineError) {
        guard let key = values.keys.min() else { return }
        throw EngineError(
            .argument, "Unknown key \"\(key)\" in \(title); known are \(known.joined(separator: ", "))")
    }

    private func wrong(_ key: String, _ found: String, _ wanted: String) -> EngineError {
        EngineError(.argument, "\(key) in \(title) is \(found); wanted is \(wanted)")
    }
}
