/// Speed of the core alone, without engine, server or text: `rmx-core bench DIR`.
///
/// Prompts are made-up token ids: speed depends on counts, not on which they are. Decode figures are medians of single
/// steps, so a moment when something else has the machine does not move them; prefill is timed whole.

import Engine
import Kernels
import Runtime

/// What to measure.
public struct BenchOptions: Sendable, Equatable {
    /// Prompt tokens of each sequence.
    public var contexts = [128, 1024]
    /// Sequences that share a step.
    public var batches = [1, 4]
    /// Decode steps of each measurement.
    public var steps = 32
    /// Prompt tokens of one prefill step.
    public var chunkTokens = ConfigLimits.prefillChunkTokens.standard
    /// Rounding of activations, keys and values; nil: as a server does it.
    public var arithmetic: EngineConfig.CPUArithmetic?
    /// Threads of the CPU kernels; 0: what this process may use.
    public var threads = 0
    /// Whether to say where the time of a step goes.
    public var profile = false
    /// 128 and 1,024 tokens, one and four sequences.
    public init() {}

    /// Reads flags; absent ones keep the defaults.
    /// - Throws: `argument`, naming the flag and what is wrong.
    init(_ flags: CoreFlags) throws(EngineError) {
        contexts = try Self.list(flags.contexts, "--contexts", max: 1 << 20) ?? contexts
        batches = try Self.list(flags.batches, "--batches", max: 256) ?? batches
        steps = try Self.number(flags.steps, "--steps", max: 1 << 16) ?? steps
        chunkTokens = try Self.number(flags.chunk, "--chunk", max: 8192) ?? chunkTokens
        threads = try Self.number(flags.threads, "--threads", max: ConfigLimits.threads.upperBound) ?? threads
        if let name = flags.arithmetic {
            guard let known = EngineConfig.CPUArithmetic(rawValue: name) else {
                throw EngineError(.argument, "--arithmetic is \"\(name)\"; wanted is exact or fast")
            }
            arithmetic = known
        }
        profile = flags.profile
    }

    private static func number(_ text: String?, _ name: String, max: Int) throws(EngineError) -> Int? {
        guard let numbers = try list(text, name, max: max) else { return nil }
        guard numbers.count == 1 else {
            throw EngineError(.argument, "\(name) has \(numbers.count) numbers; wanted is one")
        }
        return numbers[0]
    }

    /// Numbers from text such as `128,1024`.
    private static func list(_ text: String?, _ name: String, max: Int) throws(EngineError) -> [Int]? {
        guard let text else { return nil }
        var numbers: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Int(part), (1...max).contains(number) else {
                throw EngineError(.argument, "\(name) has \"\(part)\"; wanted are numbers from 1 to \(max) with commas")
            }
            numbers.append(number)
        }
        return numbers
    }
}

/// One line of the result.
public struct BenchResult: Sendable, Encodable {
    /// Prompt tokens of each sequence.
    public var contextTokens: Int
    /// Sequences in a step.
    public var batch: Int
    /// Prompt tokens a second, of one sequence alone.
    public var prefillTokensPerSecond: Double
    /// Tokens a second, of all sequences together.
    public var decodeTokensPerSecond: Double
    /// Median of a decode step, microseconds.
    public var stepUs: Int
    /// Fastest and slowest step, microseconds.
    public var stepRangeUs: [Int]
    /// Bytes that the allocator has held at most.
    public var peakMemoryBytes: Int
    /// Bytes of weights, keys and values that a step read, counted; nil where the kernels don't count.
    public var stepBytes: Int?
    /// Bytes that it had to read: the weights once, and the keys and values of each sequence.
    public var leastStepBytes: Int
    /// Where the time went; nil unless asked for.
    public var profile: BenchProfile?

    enum CodingKeys: String, CodingKey {
        case batch, profile
        case contextTokens = "context_tokens"
        case prefillTokensPerSecond = "prefill_tokens_per_second"
        case decodeTokensPerSecond = "decode_tokens_per_second"
        case stepUs = "step_us"
        case stepRangeUs = "step_range_us"
        case peakMemoryBytes = "peak_memory_bytes"
        case stepBytes = "step_bytes"
        case leastStepBytes = "least_step_bytes"
    }
}

/// The command.
public enum Bench {
    /// Loads the checkpoint at `path` and measures every pair of context and batch; `found` gets each result at once.
    /// - Throws: `EngineError` if the checkpoint can't be loaded, or a context is over its own.
    public static func run(_ path: String, _ options: BenchOptions, found: (BenchResult) -> Void) throws {
        var config = EngineConfig()
        (config.threads, config.cpuArithmetic) = (options.threads, options.arithmetic)
        try configureProcessor(config)
        let loader = CheckpointLoader()
        let runner = try loader.load(path: path, options: ModelOptions(), progress: { _ in })
        for context in options.contexts {
            let need = context + options.steps + 1
            guard need <= runner.description.contextTokens else {
                throw EngineError(
                    .argument,
                    "\(context) tokens and \(options.steps) steps are over the context of "
                        + "\(runner.description.contextTokens)")
            }
            for batch in options.batches {
                found(try measure(runner, loader, context: context, batch: batch, options))
                loader.trimMemory()
            }
        }
    }

    private static func measure(
        _ runner: any StepRunner, _ loader: CheckpointLoader, context: Int, batch: Int, _ options: BenchOptions
    ) throws -> BenchResult {
        let sequences = (0..<batch).map { SequenceID(UInt32($0)) }
        defer { sequences.forEach(runner.close) }
        var prefillUs: [Int] = []
        var tokens: [Int32] = []
        for sequence in sequences {
            try runner.open(sequence, capacityTokens: context + options.steps + 1)
            let (us, token) = try timed { try prefill(runner, sequence, context, options.chunkTokens) }
            prefillUs.append(us)
            tokens.append(token)
        }
        var stepsUs: [Int] = []
        StepProfile.start()
        for step in 0..<options.steps {
            let segments = zip(sequences, tokens).map { sequence, token in
                Segment(
                    sequence: sequence, tokens: [token], position: context + step,
                    sample: SampleRequest(parameters: SamplingParameters()))
            }
            let (us, outcomes) = try timed { try runner.step(segments) }
            stepsUs.append(us)
            tokens = try outcomes.map(drawn)
        }
        let found = StepProfile.stop()
        let sorted = stepsUs.sorted()
        let median = max(1, sorted[sorted.count / 2])
        return BenchResult(
            contextTokens: context, batch: batch,
            prefillTokensPerSecond: Double(context) * 1e6 / Double(max(1, prefillUs.sorted()[batch / 2])),
            decodeTokensPerSecond: Double(batch) * 1e6 / Double(median), stepUs: median,
            stepRangeUs: [sorted[0], sorted[sorted.count - 1]], peakMemoryBytes: loader.memory().peakBytes,
            stepBytes: found.map { $0.bytes / options.steps },
            leastStepBytes: leastBytes(runner.description, context: context, batch: batch, steps: options.steps),
            profile: options.profile ? found.map { BenchProfile($0, stepsUs: stepsUs) } : nil)
    }

    /// Weights once, and what each sequence holds of keys and values at the middle of the measurement.
    private static func leastBytes(_ model: ModelDescription, context: Int, batch: Int, steps: Int) -> Int {
        let seen = context * steps + steps * (steps + 1) / 2
        return model.weightBytes + batch * seen * model.kvBytesPerToken / steps
    }

    /// Runs a prompt in chunks and draws the first token.
    private static func prefill(
        _ runner: any StepRunner, _ sequence: SequenceID, _ context: Int, _ chunk: Int
    ) throws -> Int32 {
        let vocabulary = runner.description.vocabularySize
        var position = 0
        while true {
            let end = min(position + chunk, context)
            let tokens = (position..<end).map { Int32(($0 * 7919 + 13) % vocabulary) }
            let sample = end == context ? SampleRequest(parameters: SamplingParameters()) : nil
            let segment = Segment(sequence: sequence, tokens: tokens, position: position, sample: sample)
            let outcomes = try runner.step([segment])
            if end == context, let outcome = outcomes.first { return try drawn(outcome) }
            for case .failed(let error) in outcomes { throw error }
            position = end
        }
    }

    private static func drawn(_ outcome: SegmentOutcome) throws -> Int32 {
        switch outcome {
        case .sampled(let token): return token.token
        case .failed(let error): throw error
        case .advanced, .held: throw EngineError(.internal, "A step that was asked for a token gave none")
        }
    }

    private static func timed<Value>(_ body: () throws -> Value) rethrows -> (us: Int, Value) {
        let start = ContinuousClock.now
        let value = try body()
        let duration = (ContinuousClock.now - start).components
        return (Int(duration.seconds) * 1_000_000 + Int(duration.attoseconds / 1_000_000_000_000), value)
    }

    /// A result as a line for people.
    public static func line(_ result: BenchResult) -> String {
        let prefill = Int(result.prefillTokensPerSecond.rounded())
        let decode = (result.decodeTokensPerSecond * 10).rounded() / 10
        let range = "\(result.stepRangeUs[0]) to \(result.stepRangeUs[1])"
        let ratio = result.stepBytes.map {
            "\((Double($0) / Double(max(1, result.leastStepBytes)) * 1000).rounded() / 1000) of the least bytes, "
        }
        return "context \(result.contextTokens), batch \(result.batch): "
            + "prefill \(prefill) tok/s, decode \(decode) tok/s (\(result.stepUs) us a step, \(range)), "
            + "\(ratio ?? "")peak \(result.peakMemoryBytes / 1_000_000) MB"
    }
}
