/// Where callers and the engine thread meet: commands in, and what a caller must know at once (which tags and models
/// live, what is free) kept beside them under one lock that is never held during a step or a load.
///
/// Invariants: at most `maxRequests + maxQueue` tags live, each from its accepted submit until its FINISH is made; so
/// the commands are bounded too: one submit and one cancel a live tag, one load and one unload a model. What was told
/// of a masked request is kept here, bounded by `ToldPositions`, and goes with its tag.

/// What a caller asked of the engine thread.
enum Command: Sendable {
    case submit(AcceptedRequest)
    case cancel(tag: UInt32)
    case load(handle: UInt32, path: String, options: ModelOptions)
    case unload(handle: UInt32)
}

/// A request that will get a FINISH.
struct AcceptedRequest: Sendable {
    /// As submitted, checked.
    var request: EngineRequest
    /// When.
    var submittedUs: UInt64
    /// Tokens of its cache at worst: prompt and `maxTokens`, capped to the context.
    var capacityTokens: Int
    /// Bytes of those.
    var priceBytes: Int
}

/// What the engine thread took out.
struct Intake: Sendable {
    /// In the order of the calls.
    var commands: [Command]
    /// Close was asked; nothing follows these commands.
    var closing: Bool
}

/// A model as callers know it.
enum ModelEntry: Sendable {
    case loading
    case ready(ModelDescription)
    case unloading
}

/// A live tag as callers know it.
private struct LiveTag: Sendable {
    /// A cancel was posted.
    var cancelled = false
    /// What may be drawn, of a masked request.
    var told: ToldPositions?
}

/// One consumer (the engine thread), any number of callers.
final class Mailbox: Sendable {
    private struct State: Sendable {
        var commands: [Command] = []
        var poked = false
        var closing = false
        var live: [UInt32: LiveTag] = [:]
        var models = HandleTable<ModelEntry>(countMax: Limits.modelsMax)
        var budget: MemoryBudget
        var submitted = 0
        var statistics = EngineStatistics()
    }

    private let state: Monitor<State>
    private let liveMax: Int

    /// An open mailbox.
    init(config: EngineConfig) {
        state = Monitor(State(budget: MemoryBudget(bytes: config.memoryBytes)))
        liveMax = config.maxRequests + config.maxQueue
    }

    // MARK: - For callers

    /// The facts of a ready model.
    /// - Throws: `handle`, or `busy` while it loads.
    func description(of handle: UInt32) throws(EngineError) -> ModelDescription {
        try state.withLock { (state) throws(EngineError) in try ready(handle, state) }
    }

    /// Queues a request whose arrays are checked.
    /// - Throws: `closed`, `handle`, `argument` for a tag in use, `memory`, `busy`.
    func submit(_ request: EngineRequest, nowUs: UInt64) throws(EngineError) {
        try state.change { (state) throws(EngineError) in
            try refuseClosed(state)
            let model = try ready(request.model, state)
            guard state.live[request.tag] == nil else {
                throw EngineError(.argument, "The tag \(request.tag) is in use; wanted is one that no live request has")
            }
            let completionMax = min(request.maxTokens, model.contextTokens - request.prompt.count)
            let capacity = request.prompt.count + completionMax
            let price = model.cacheBytes(tokens: capacity)
            if case .never = state.budget.verdict(price) { throw state.budget.refusal(price, tokens: capacity) }
            guard state.live.count < liveMax else {
                throw EngineError(.busy, "\(liveMax) requests are running or waiting, which is the limit; retry later")
            }
            let told = request.masked ? ToldPositions(vocabularySize: model.vocabularySize) : nil
            state.live[request.tag] = LiveTag(told: told)
            state.submitted += 1
            let accepted = AcceptedRequest(
                request: request, submittedUs: nowUs, capacityTokens: capacity, priceBytes: price)
            state.commands.append(.submit(accepted))
        }
    }

    /// Posts a cancel; once for each live tag, never for others.
    func cancel(tag: UInt32) {
        state.change { state in
            guard state.live[tag]?.cancelled == false else { return }
            state.live[tag]?.cancelled = true
            state.commands.append(.cancel(tag: tag))
        }
    }

    /// Tells a masked request something; unknown tags are no error.
    /// - Throws: `argument` if the request is not masked, and what `tell` throws.
    func tell(tag: UInt32, _ tell: (inout ToldPositions) throws(EngineError) -> Void) throws(EngineError) {
        try state.change { (state) throws(EngineError) in
            guard state.live[tag] != nil else { return }
            guard var told = state.live[tag]?.told else {
                throw EngineError(.argument, "The request of tag \(tag) is not masked; wanted is RMX_REQUEST_MASKED")
            }
            // Taken out while it changes: no copy of what it holds.
            state.live[tag]?.told = nil
            defer { state.live[tag]?.told = told }
            try tell(&told)
            state.poked = true
        }
    }

    /// Posts a load and gives the handle.
    /// - Throws: `closed`, or `busy` when the table is full.
    func load(path: String, options: ModelOptions) throws(EngineError) -> UInt32 {
        try state.change { (state) throws(EngineError) in
            try refuseClosed(state)
            guard let handle = state.models.insert(.loading) else {
                throw EngineError(.busy, "\(Limits.modelsMax) models are loaded, which is the limit; unload one first")
            }
            state.commands.append(.load(handle: handle, path: path, options: options))
            return handle
        }
    }

    /// Posts an unload; from now on the handle takes no request.
    /// - Throws: `closed`, or `handle`.
    func unload(_ handle: UInt32) throws(EngineError) {
        try state.change { (state) throws(EngineError) in
            try refuseClosed(state)
            switch state.models[handle] {
            case nil, .unloading: throw staleHandle(handle)
            case .loading, .ready: state.models[handle] = .unloading
            }
            state.commands.append(.unload(handle: handle))
        }
    }

    /// The last snapshot, with what callers have added since.
    var statistics: EngineStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.submitted = state.submitted
            statistics.waiting = state.live.count - statistics.running
            statistics.openHandles = state.models.count
            return statistics
        }
    }

    /// Lets the engine thread look again: events were read.
    func poke() {
        state.change { $0.poked = true }
    }

    /// Nothing is accepted any more.
    func beginClose() {
        state.change { $0.closing = true }
    }

    // MARK: - For the engine thread

    /// Takes the commands; waits until there is one, a poke, a close, or the time is over. A timeout of 0 polls, nil
    /// waits without end.
    func take(timeoutUs: UInt64?) -> Intake {
        let intake = state.wait(timeoutUs: timeoutUs) { (state) -> Intake? in
            if state.commands.isEmpty && !state.poked && !state.closing { return nil }
            let intake = Intake(commands: state.commands, closing: state.closing)
            state.commands = []
            state.poked = false
            return intake
        }
        return intake ?? Intake(commands: [], closing: false)
    }

    /// Publishes the state after a step. Comes before the events of that step, so who has seen a FINISH finds the tag
    /// free and the counters final.
    func publish(_ statistics: EngineStatistics, finishedTags: [UInt32]) {
        state.withLock { state in
            state.statistics = statistics
            for tag in finishedTags { state.live[tag] = nil }
        }
    }

    /// Whether this model was unloaded before its load began.
    func isUnloading(_ handle: UInt32) -> Bool {
        state.withLock { state in
            if case .unloading = state.models[handle] { true } else { false }
        }
    }

    /// Opens a loaded model to requests, unless its unload was asked meanwhile.
    func setReady(_ handle: UInt32, _ description: ModelDescription) {
        state.withLock { state in
            guard case .loading = state.models[handle] else { return }
            state.models[handle] = .ready(description)
            state.budget.weightBytes += description.weightBytes
        }
    }

    /// Frees the handle of a model that failed to load or is gone.
    func free(_ handle: UInt32) {
        state.withLock { state in
            state.models[handle] = nil
            state.budget.weightBytes = state.models.entries.reduce(0) { sum, entry in
                if case .ready(let description) = entry.value { sum + description.weightBytes } else { sum }
            }
        }
    }

    private func refuseClosed(_ state: State) throws(EngineError) {
        if state.closing { throw EngineError(.closed, "The engine is closing") }
    }

    private func ready(_ handle: UInt32, _ state: State) throws(EngineError) -> ModelDescription {
        switch state.models[handle] {
        case .ready(let description): return description
        case .loading: throw EngineError(.busy, "The model \(handle) is still loading; wait for MODEL_READY")
        case .unloading, nil: throw staleHandle(handle)
        }
    }

    private func staleHandle(_ handle: UInt32) -> EngineError {
        EngineError(.handle, "The model handle \(handle) is stale or unknown; wanted is one from a load, not unloaded")
    }
}

extension Mailbox: Guides {
    func allowance(tag: UInt32) -> Allowance? {
        state.withLock { $0.live[tag]?.told?.next }
    }

    func insteadOfEnd(tag: UInt32) -> [Int32] {
        state.withLock { $0.live[tag]?.told?.insteadOfEnd ?? [] }
    }

    func take(tag: UInt32) {
        state.withLock { $0.live[tag]?.told?.take() }
    }
}
