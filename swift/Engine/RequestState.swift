/// One request on the engine thread.
///
///     waiting ──start──► prefill ──take──► decode ──take──► decode …
///        │                 └─hold─► held ─take─┘│ └─hold─► held ─take─► …
///        └──────────────────┴── finish ─────────┴──► finished
///
/// Invariants, by phase:
///   waiting   no sequence, no memory promised
///   prefill   a sequence whose cache holds `doneTokens` rows, fewer than the prompt; nothing drawn yet
///   held      the cache holds prompt + completion rows and the last one's logits are kept: a masked request that waits
///             to be told what may be drawn
///   decode    the cache holds prompt + completion - 1 rows: the last token drawn is the next row
///   finished  no sequence; its FINISH was made; it is in no list
/// Always: completion <= tokensMax, prompt + tokensMax <= context, and `history` is empty unless a penalty reads it.

/// The state machine of a request, owned by the scheduler.
final class RequestState {
    /// Where it stands.
    enum Phase: Equatable {
        case waiting
        case prefill(doneTokens: Int)
        case held
        case decode(lastToken: Int32)
        case finished
    }

    /// How a segment ends.
    enum Ending: Equatable {
        /// Before the prompt does: no token.
        case rows
        /// With a token that the step draws.
        case draws
        /// With logits that are kept.
        case holds
        /// With a token that is known.
        case forces(Int32)
    }

    /// As submitted.
    let request: EngineRequest
    /// When.
    let submittedUs: UInt64
    /// Past this it is cancelled.
    let deadlineUs: UInt64?
    /// Rows its cache may come to hold.
    let capacityTokens: Int
    /// Bytes of those.
    let priceBytes: Int
    /// Completion tokens it may draw: `max_tokens`, or what the context leaves.
    let tokensMax: Int
    /// Where it stands.
    private(set) var phase = Phase.waiting
    /// Its cache, in prefill and decode.
    private(set) var sequence: SequenceID?
    /// Tokens drawn.
    private(set) var completionTokens = 0
    /// Tokens that come next, whatever was told: they stand in for an end token.
    private(set) var pending: [Int32] = []
    /// Requests behind it that were admitted while it did not fit.
    var overtakes = 0

    private let endTokens: Set<Int32>
    private var history: [Int32] = []
    private var firstStepUs: UInt64?
    private var firstTokenUs: UInt64?
    private var lastTokenUs: UInt64?

    /// A waiting request.
    init(_ accepted: AcceptedRequest) {
        request = accepted.request
        submittedUs = accepted.submittedUs
        let deadlineMs = UInt64(request.deadlineMs)
        deadlineUs = deadlineMs == 0 ? nil : submittedUs.addingSaturated(deadlineMs * 1_000)
        capacityTokens = accepted.capacityTokens
        priceBytes = accepted.priceBytes
        tokensMax = capacityTokens - request.prompt.count
        endTokens = request.ignoreEnd ? [] : Set(request.endTokens)
    }

    /// The caller's tag.
    var tag: UInt32 { request.tag }

    /// Whether the time is over.
    func isOverdue(_ nowUs: UInt64) -> Bool {
        deadlineUs.map { nowUs >= $0 } ?? false
    }

    /// Takes an open sequence.
    func start(_ sequence: SequenceID) {
        assert(phase == .waiting, "a request starts once")
        self.sequence = sequence
        phase = .prefill(doneTokens: 0)
        if request.sampling.needsHistory {
            history = request.prompt
            history.reserveCapacity(capacityTokens)
        }
    }

    /// Rows of its next segment; 0 when it has none. Chunk borders are at multiples of `chunkTokens`, whatever else is
    /// in the step: where reuse and exactness depend on borders, these are known.
    func nextRowCount(chunkTokens: Int) -> Int {
        switch phase {
        case .prefill(let done): min(request.prompt.count, (done / chunkTokens + 1) * chunkTokens) - done
        case .decode: 1
        case .waiting, .held, .finished: 0
        }
    }

    /// Whether its next segment reaches a position to draw.
    func reachesDraw(chunkTokens: Int) -> Bool {
        switch phase {
        case .prefill(let done): done + nextRowCount(chunkTokens: chunkTokens) == request.prompt.count
        case .decode: true
        case .waiting, .held, .finished: false
        }
    }

    /// Its share of the next step; nil when it has none.
    func nextSegment(chunkTokens: Int, _ ending: Ending) -> Segment? {
        guard let sequence else { return nil }
        let sample = ending == .draws ? sampleRequest() : nil
        let holds = ending == .holds
        switch phase {
        case .prefill(let done):
            let end = done + nextRowCount(chunkTokens: chunkTokens)
            return Segment(
                sequence: sequence, tokens: Array(request.prompt[done..<end]), position: done, sample: sample,
                holds: holds)
        case .decode(let last):
            let position = request.prompt.count + completionTokens - 1
            return Segment(sequence: sequence, tokens: [last], position: position, sample: sample, holds: holds)
        case .waiting, .held, .finished: return nil
        }
    }

    /// Notes that a step begins.
    func beginStep(_ nowUs: UInt64) {
        if firstStepUs == nil { firstStepUs = nowUs }
    }

    /// Prompt rows are in the cache. Gives the prompt tokens done.
    func advance(rows: Int) -> Int {
        guard case .prefill(let done) = phase else {
            assertionFailure("only a prefill advances without a token")
            return 0
        }
        phase = .prefill(doneTokens: done + rows)
        return done + rows
    }

    /// All rows are in the cache, and the logits of the last are kept.
    func hold() {
        phase = .held
    }

    /// Whether this token ends it.
    func ends(with token: Int32) -> Bool {
        endTokens.contains(token)
    }

    /// An end token was drawn: these come instead of it.
    func replaceEnd(with tokens: [Int32]) {
        pending = tokens
    }

    /// A token was drawn. Gives why the request ends with it; nil if it goes on.
    func take(_ token: Int32, nowUs: UInt64) -> FinishResult? {
        if request.sampling.needsHistory { history.append(token) }
        completionTokens += 1
        if !pending.isEmpty { pending.removeFirst() }
        if firstTokenUs == nil { firstTokenUs = nowUs }
        lastTokenUs = nowUs
        phase = .decode(lastToken: token)
        if endTokens.contains(token) { return .stop }
        return completionTokens == tokensMax ? .length : nil
    }

    /// Ends it; gives what it cost.
    func finish(_ nowUs: UInt64) -> RequestUsage {
        assert(phase != .finished, "a request finishes once")
        phase = .finished
        sequence = nil
        history = []
        var usage = RequestUsage()
        usage.seed = request.sampling.seed
        guard let firstStepUs else { return usage }
        usage.promptTokens = request.prompt.count
        usage.completionTokens = completionTokens
        usage.queueUs = firstStepUs - submittedUs
        usage.prefillUs = (firstTokenUs ?? nowUs) - firstStepUs
        if let firstTokenUs, let lastTokenUs { usage.decodeUs = lastTokenUs - firstTokenUs }
        return usage
    }

    /// How its next token is drawn.
    func sampleRequest() -> SampleRequest {
        SampleRequest(
            parameters: request.sampling, history: history,
            completionStart: history.isEmpty ? 0 : request.prompt.count)
    }
}
