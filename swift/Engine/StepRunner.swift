/// What the scheduler needs of a model, in numbers only. `Runtime` conforms with MLX; the tests conform with a fake.
///
/// A step is a list of segments, one a sequence (docs/design/0004): a prefill chunk, one decode row, or (later) a
/// window of draft rows. Row-wise work runs once over all rows; mixers run per segment on that sequence's cache. All
/// calls come from the engine thread.

/// A live sequence of one runner: its cache slot.
public struct SequenceID: Hashable, Sendable {
    /// Unique among live sequences.
    public let rawValue: UInt32
    /// Wraps a number that the scheduler chose.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// How a token is drawn: a pure function of (seed, position, logits, history).
public struct SamplingParameters: Sendable, Equatable {
    /// 63 bits count.
    public var seed: UInt64 = 0
    /// 0: greedy, lowest id on ties.
    public var temperature: Float = 0
    /// (0, 1]; 1: off.
    public var topP: Float = 1
    /// [0, 1]; 0: off.
    public var minP: Float = 0
    /// 0: off.
    public var topK: Int = 0
    /// > 0; 1: off. Over prompt and completion, within the window.
    public var repetitionPenalty: Float = 1
    /// [-2, 2]; over the completion only, as OpenAI defines it.
    public var presencePenalty: Float = 0
    /// [-2, 2]; over the completion only, times the count.
    public var frequencyPenalty: Float = 0
    /// Tokens that the repetition penalty looks back; 0: whole context.
    public var penaltyWindowTokens: Int = 0
    /// Nil: no logprobs. Else alternatives a token, 0 to 20.
    public var logprobsTop: Int?
    /// Added to the logits before anything else.
    public var logitBias: [TokenLogprob] = []
    /// Greedy, nothing on.
    public init() {}
}

/// A token with a number: its log probability, or its bias.
public struct TokenLogprob: Sendable, Equatable {
    /// Token id.
    public var token: Int32
    /// Natural log of the probability, or the bias.
    public var logprob: Float
    /// Pairs them.
    public init(token: Int32, logprob: Float) {
        self.token = token
        self.logprob = logprob
    }
}

/// What to draw after a segment's last row.
public struct SampleRequest: Sendable {
    /// How.
    public var parameters: SamplingParameters
    /// All tokens before the one to draw (prompt, then completion); empty unless a penalty is on.
    public var history: [Int32]
    /// Index in `history` where the completion begins.
    public var completionStart: Int
    /// Pairs parameters with what came before.
    public init(parameters: SamplingParameters, history: [Int32] = [], completionStart: Int = 0) {
        self.parameters = parameters
        self.history = history
        self.completionStart = completionStart
    }
}

/// The share of one sequence in a step.
public struct Segment: Sendable {
    /// Whose cache.
    public var sequence: SequenceID
    /// Rows to run, at least one.
    public var tokens: [Int32]
    /// Absolute position of `tokens[0]`; equals the tokens already in the cache.
    public var position: Int
    /// Nil for a prefill chunk that is not the last: no logits wanted. The drawn token has position
    /// `position + tokens.count`.
    public var sample: SampleRequest?
    /// Nothing is drawn: the last row's logits are kept for `draw`, until the sequence's next segment. `sample` is nil.
    public var holds: Bool
    /// One sequence's rows.
    public init(sequence: SequenceID, tokens: [Int32], position: Int, sample: SampleRequest?, holds: Bool = false) {
        self.sequence = sequence
        self.tokens = tokens
        self.position = position
        self.sample = sample
        self.holds = holds
    }
}

/// A token to draw from the logits that a sequence holds, at the position after its rows.
public struct HeldDraw: Sendable {
    /// Which token it may be.
    public enum Choice: Sendable {
        /// Any.
        case free
        /// Token t if bit t % 32 of word t / 32 is set: ceil(V / 32) words. It goes on after bias and penalties.
        case mask([UInt32])
        /// This one; its probabilities are those of a free draw.
        case force(Int32)
    }
    /// Whose logits; they stay as they are.
    public var sequence: SequenceID
    /// How.
    public var sample: SampleRequest
    /// What may come.
    public var choice: Choice
    /// A draw.
    public init(sequence: SequenceID, sample: SampleRequest, choice: Choice) {
        self.sequence = sequence
        self.sample = sample
        self.choice = choice
    }
}

/// A token that was drawn.
public struct SampledToken: Sendable, Equatable {
    /// Token id.
    public var token: Int32
    /// Natural log of its probability before temperature and filters; 0 when not asked for.
    public var logprob: Float
    /// Best first.
    public var top: [TokenLogprob]
    /// A drawn token with its probabilities.
    public init(token: Int32, logprob: Float = 0, top: [TokenLogprob] = []) {
        self.token = token
        self.logprob = logprob
        self.top = top
    }
}

/// What became of a segment.
public enum SegmentOutcome: Sendable {
    /// The rows are in the cache; nothing was to be drawn.
    case advanced
    /// The rows are in the cache and the last one's logits are kept.
    case held
    /// The rows are in the cache and a token was drawn.
    case sampled(SampledToken)
    /// This sequence can't go on; the others are unharmed.
    case failed(EngineError)
}

/// A loaded model on the engine thread.
public protocol StepRunner: AnyObject {
    /// Facts for `rmx_model_info` and for pricing.
    var description: ModelDescription { get }
    /// Makes an empty cache for at most `capacityTokens` tokens.
    func open(_ sequence: SequenceID, capacityTokens: Int) throws
    /// Frees the cache; unknown sequences are no error.
    func close(_ sequence: SequenceID)
    /// Runs one step. Outcomes match `segments` in order and length.
    /// - Throws: When the whole step failed and every sequence of it is lost.
    func step(_ segments: [Segment]) throws -> [SegmentOutcome]
    /// Draws from logits that a step kept: `sampled` or `failed`, in order and length of `draws`.
    /// - Throws: When every sequence of it is lost.
    func draw(_ draws: [HeldDraw]) throws -> [SegmentOutcome]
}

/// What holds of a row's bits (design note on exactness), weakest first.
public enum Exactness: String, Sendable, Codable, Comparable, CaseIterable {
    /// Nothing is promised: outputs may differ with what shares a step.
    case none
    /// Equal at 1 to 16 rows; prompts in fixed chunks at absolute borders.
    case window
    /// Equal at 1 to 512 rows.
    case full

    /// Weaker than.
    public static func < (left: Exactness, right: Exactness) -> Bool {
        switch (left, right) {
        case (.none, .window), (.none, .full), (.window, .full): true
        default: false
        }
    }
}

/// What is known of a loaded model.
public struct ModelDescription: Sendable {
    /// `model_type` of config.json.
    public var modelType: String
    /// Rows of the logits.
    public var vocabularySize: Int
    /// Largest prompt plus completion.
    public var contextTokens: Int
    /// Bytes held by weights.
    public var weightBytes: Int
    /// Bytes of cache a token.
    public var kvBytesPerToken: Int
    /// e.g. `4-bit g32 affine`.
    public var quantization: String
    /// Dtype of activations.
    public var dtype: String
    /// What the check at load found; `none` unless one was made.
    public var exactness: Exactness
    /// All fields.
    public init(
        modelType: String, vocabularySize: Int, contextTokens: Int, weightBytes: Int, kvBytesPerToken: Int,
        quantization: String, dtype: String, exactness: Exactness = .none
    ) {
        self.modelType = modelType
        self.vocabularySize = vocabularySize
        self.contextTokens = contextTokens
        self.weightBytes = weightBytes
        self.kvBytesPerToken = kvBytesPerToken
        self.quantization = quantization
        self.dtype = dtype
        self.exactness = exactness
    }
}

/// How to load a model (JSON of `rmx_model_load`).
public struct ModelOptions: Sendable {
    /// Cap under the checkpoint's own context; nil: the checkpoint's.
    public var contextTokens: Int?
    /// Widen everything to float32 (parity tests).
    public var float32 = false
    /// The checkpoint as it is.
    public init() {}
}

/// Makes runners and answers for the device; `Runtime` conforms.
///
/// Calls come from the engine thread, `estimate` from any.
public protocol ModelLoader: AnyObject, Sendable {
    /// Loads a checkpoint directory. `progress` takes per mille, 0 to 1000.
    /// - Throws: `EngineError` that names file, tensor and reason.
    func load(path: String, options: ModelOptions, progress: (Int) -> Void) throws -> any StepRunner
    /// Bytes of weights and of cache a token, from headers alone.
    func estimate(path: String, options: ModelOptions) throws -> (weightBytes: Int, kvBytesPerToken: Int)
    /// Memory that the allocator holds: active, peak, cached bytes.
    func memory() -> (activeBytes: Int, peakBytes: Int, cacheBytes: Int)
    /// Gives freed buffers back.
    func trimMemory()
}

/// An error that can cross the C boundary: a status of rmx.h and a sentence.
public struct EngineError: Error, Sendable, Equatable {
    /// Raw values are rmx_status_code.
    public enum Code: Int32, Sendable {
        case argument = -1, handle = -2, space = -3, closed = -4, busy = -5, memory = -6, io = -7, format = -8
        case model = -9, `internal` = -10
    }
    /// Which kind.
    public var code: Code
    /// What was tried, what was found, what is wanted.
    public var message: String
    /// Pairs them.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
