/// Which requests step now. A pure state machine on the engine thread: commands and one `step` at a time in, events
/// out; no thread, no lock, no clock of its own, so the tests drive it by hand.
///
/// The parts: here the lists and how requests enter and leave; Scheduler+Admission who may start; Scheduler+Step what a
/// step holds and what becomes of it; Scheduler+Draw how a masked request draws.
///
/// Invariants, between two calls:
///   - `waiting` holds requests in phase waiting, in order of arrival; `running` those in prefill, held or decode, in
///     order of admission; no request is in both, and at most `maxRequests` run
///   - each running request has a sequence that its model's runner has open; a runner has no other sequence open
///   - `budget.cacheBytes` is the sum of the prices of `running`; with `weightBytes` it is within the budget
///   - each submit gives exactly one FINISH into `outbox`, and no event of its tag follows

/// The requests and models of one engine.
final class Scheduler {
    /// A model that takes requests.
    struct ServedModel {
        /// Computes its steps.
        var runner: any StepRunner
        /// Its facts, asked once.
        var description: ModelDescription
    }

    /// Limits.
    let config: EngineConfig
    /// Time.
    let clock: any EngineClock
    /// What masked requests may draw.
    let guides: any Guides
    /// By handle.
    private(set) var models: [UInt32: ServedModel] = [:]
    /// In order of arrival.
    var waiting: [RequestState] = []
    /// In order of admission.
    var running: [RequestState] = []
    /// Promised memory.
    var budget: MemoryBudget
    /// Totals and lengths; `submitted`, `waiting` and `openHandles` are the mailbox's.
    var statistics = EngineStatistics()
    /// Something changed that may let a request start.
    var admissionDue = false
    /// Turns at the queue.
    var admissionTurns = FairTurns()
    /// Turns at the prefill rows of a step.
    var prefillTurns = FairTurns()
    /// The model of the last step: the next one begins the search after it.
    var lastModel: UInt32 = 0

    private var outbox: [EngineEvent] = []
    private var finishedTags: [UInt32] = []
    private var lastSequence: UInt32 = 0

    /// Nothing loaded, nothing asked.
    init(config: EngineConfig, clock: any EngineClock, guides: any Guides) {
        self.config = config
        self.clock = clock
        self.guides = guides
        budget = MemoryBudget(bytes: config.memoryBytes)
    }

    // MARK: - Models

    /// Takes a loaded model.
    func addModel(_ handle: UInt32, _ runner: any StepRunner) {
        let description = runner.description
        models[handle] = ServedModel(runner: runner, description: description)
        budget.weightBytes += description.weightBytes
        countModels()
    }

    /// Ends the model's requests and lets go of it. Nothing if it is not here.
    func removeModel(_ handle: UInt32) {
        for request in waiting + running where request.request.model == handle {
            finish(request, .cancelled("The model was unloaded"))
        }
        guard let model = models.removeValue(forKey: handle) else { return }
        budget.weightBytes -= model.description.weightBytes
        admissionDue = true
        countModels()
    }

    private func countModels() {
        statistics.models = models.count
        statistics.exactness = models.values.map(\.description.exactness).min() ?? .none
    }

    // MARK: - Requests

    /// Takes a request; its FINISH is owed from here on.
    func submit(_ accepted: AcceptedRequest) {
        let request = RequestState(accepted)
        waiting.append(request)
        // The model may have gone between the caller's check and now.
        guard models[request.request.model] != nil else {
            finish(request, .cancelled("The model was unloaded"))
            return
        }
        admissionTurns.join(request.request.client)
        admissionDue = true
    }

    /// Ends a request now; unknown tags are no error.
    func cancel(tag: UInt32) {
        guard let request = (running + waiting).first(where: { $0.tag == tag }) else { return }
        finish(request, .cancelled("The request was cancelled"))
    }

    /// Ends all.
    func cancelAll(_ reason: String) {
        for request in running + waiting { finish(request, .cancelled(reason)) }
    }

    /// Ends those whose time is over.
    func cancelOverdue() {
        let nowUs = clock.nowUs()
        for request in running + waiting where request.isOverdue(nowUs) {
            finish(request, .cancelled("The deadline of \(request.request.deadlineMs) ms is over"))
        }
    }

    /// The first deadline ahead.
    var nextDeadlineUs: UInt64? {
        var first: UInt64?
        for request in running { first = earlier(first, request.deadlineUs) }
        for request in waiting { first = earlier(first, request.deadlineUs) }
        return first
    }

    private func earlier(_ left: UInt64?, _ right: UInt64?) -> UInt64? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// Makes the one FINISH: frees cache, memory and turn, counts, and tells.
    func finish(_ request: RequestState, _ result: FinishResult) {
        let handle = request.request.model
        if let sequence = request.sequence {
            models[handle]?.runner.close(sequence)
            running.removeAll { $0 === request }
            budget.cacheBytes -= request.priceBytes
        } else {
            waiting.removeAll { $0 === request }
        }
        admissionDue = true
        leaveTurns(request.request.client)
        let usage = request.finish(clock.nowUs())
        switch result {
        case .stop, .length: statistics.completed += 1
        case .cancelled: statistics.cancelled += 1
        case .failed: statistics.failed += 1
        }
        finishedTags.append(request.tag)
        emit(.finish(tag: request.tag, result: result.bounded, usage: usage))
    }

    /// A client without a live request has no turn to keep.
    private func leaveTurns(_ client: UInt32) {
        if waiting.contains(where: { $0.request.client == client }) { return }
        if running.contains(where: { $0.request.client == client }) { return }
        admissionTurns.leave(client)
        prefillTurns.leave(client)
    }

    /// A number that no live sequence has.
    func newSequence() -> SequenceID {
        repeat { lastSequence &+= 1 } while running.contains { $0.sequence?.rawValue == lastSequence }
        return SequenceID(lastSequence)
    }

    // MARK: - What comes out

    /// Adds an event to the next flush.
    func emit(_ event: EngineEvent) {
        outbox.append(event)
    }

    /// Hands out what happened since the last call: events in order, tags that are free, and the counters.
    func flush() -> (events: [EngineEvent], finishedTags: [UInt32], statistics: EngineStatistics) {
        statistics.running = running.count
        statistics.waiting = waiting.count
        statistics.kvBytes = budget.cacheBytes
        defer {
            outbox = []
            finishedTags = []
        }
        return (outbox, finishedTags, statistics)
    }
}

extension FinishResult {
    /// With a message that fits into an event.
    var bounded: FinishResult {
        switch self {
        case .stop, .length: self
        case .cancelled(let message): .cancelled(message.boundedMessage)
        case .failed(let error): .failed(EngineError(error.code, error.message.boundedMessage))
        }
    }
}
