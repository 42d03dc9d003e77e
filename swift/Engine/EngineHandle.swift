/// The engine as the bridge calls it: any thread, typed errors, nothing that waits but `wait` and `close`.
///
/// Everything is posted to the one engine thread, which owns models, caches and requests; what comes back are events.
/// Not known here: the C structs (Bridge) and how a model computes (Runtime).

/// An open engine: one thread, one queue of events.
public final class EngineHandle: Sendable {
    /// As opened.
    public let config: EngineConfig
    private let loader: any ModelLoader
    private let clock: any EngineClock
    private let mailbox: Mailbox
    private let events: EventQueue
    private let thread: EngineThread?

    /// Starts the engine thread.
    /// - Throws: `argument` if the config's numbers do not go together, `internal` if the system gives no thread.
    public convenience init(
        config: EngineConfig, loader: any ModelLoader, clock: any EngineClock = MonotonicClock()
    ) throws(EngineError) {
        let mailbox = Mailbox(config: config)
        let events = EventQueue(onRelief: { mailbox.poke() })
        try config.check()
        let thread = try EngineThread {
            EngineLoop(config: config, loader: loader, clock: clock, mailbox: mailbox, events: events).run()
        }
        self.init(config: config, loader: loader, clock: clock, mailbox: mailbox, events: events, thread: thread)
    }

    /// Joins the parts; without a thread somebody else turns the loop, as the tests do.
    init(
        config: EngineConfig, loader: any ModelLoader, clock: any EngineClock, mailbox: Mailbox, events: EventQueue,
        thread: EngineThread?
    ) {
        self.config = config
        self.loader = loader
        self.clock = clock
        self.mailbox = mailbox
        self.events = events
        self.thread = thread
    }

    deinit { close() }

    /// Queues a request. Accepted means that exactly one `finish` event follows, and nothing after it.
    /// - Throws: `argument`, `handle`, `memory` if its worst case can never fit, `busy`, `closed`.
    public func submit(_ request: EngineRequest) throws(EngineError) {
        let model = try mailbox.description(of: request.model)
        try request.check(against: model)
        try refuseFullQueue()
        try mailbox.submit(request, nowUs: clock.nowUs())
    }

    /// Ends a request before the next step. Idempotent; unknown tags are no error.
    public func cancel(tag: UInt32) {
        mailbox.cancel(tag: tag)
    }

    /// Positions of a masked request are free: `rows` of them from `position` on.
    /// - Throws: `argument`: see `ToldPositions`.
    public func allow(tag: UInt32, position: Int, rows: Int) throws(EngineError) {
        try mailbox.tell(tag: tag) { (told) throws(EngineError) in try told.tellFree(position, rows: rows) }
    }

    /// Tells a masked request which tokens may be drawn: one row of ceil(V / 32) words a position.
    /// - Throws: `argument`.
    public func mask(tag: UInt32, position: Int, rows: Int, words: [UInt32]) throws(EngineError) {
        try mailbox.tell(tag: tag) { (told) throws(EngineError) in
            try told.tellMasks(position, rows: rows, words: words)
        }
    }

    /// Tells a masked request which tokens come next.
    /// - Throws: `argument`.
    public func force(tag: UInt32, position: Int, tokens: [Int32]) throws(EngineError) {
        try mailbox.tell(tag: tag) { (told) throws(EngineError) in try told.tellTokens(position, tokens) }
    }

    /// An end token that a masked request draws gives way to these tokens; none: it ends.
    /// - Throws: `argument`.
    public func replaceEnd(tag: UInt32, with tokens: [Int32]) throws(EngineError) {
        try mailbox.tell(tag: tag) { (told) throws(EngineError) in try told.replaceEnd(tokens) }
    }

    /// Starts a load; its end is `modelReady` or `modelFailed`, which frees the handle.
    /// - Throws: `busy`, `closed`.
    public func loadModel(path: String, options: ModelOptions) throws(EngineError) -> UInt32 {
        try refuseFullQueue()
        return try mailbox.load(path: path, options: options)
    }

    /// Starts an unload; its end is `modelUnloaded`. The model's requests end with CANCELLED.
    /// - Throws: `handle`, `closed`.
    public func unloadModel(_ handle: UInt32) throws(EngineError) {
        try mailbox.unload(handle)
    }

    /// Facts of a ready model.
    /// - Throws: `handle`, or `busy` while it loads.
    public func modelInfo(_ handle: UInt32) throws(EngineError) -> ModelDescription {
        try mailbox.description(of: handle)
    }

    /// Waits for events, a wake or the timeout. At most one wait may be in flight.
    ///
    /// `maxEvents` is at least 1. `maxBytes` is the room for payloads, each padded to 8 bytes;
    /// `Limits.eventPayloadBytesMax` is always enough for one. A timeout of 0 polls. A wake that comes while nobody
    /// waits ends the next wait.
    /// - Throws: `argument`, `space` if the first event does not fit, `closed` after the last event of a closed engine.
    public func wait(maxEvents: Int, maxBytes: Int, timeoutMs: UInt32) throws(EngineError) -> EventBatch {
        try events.wait(maxEvents: maxEvents, maxBytes: maxBytes, timeoutUs: UInt64(timeoutMs) * 1_000)
    }

    /// Ends the wait in flight, or the next one.
    public func wake() {
        events.wake()
    }

    /// Bytes of a checkpoint's weights and of cache a token, from headers alone; reads files.
    /// - Throws: What the loader says of the files.
    public func estimate(
        path: String, options: ModelOptions
    ) throws(EngineError) -> (weightBytes: Int, kvBytesPerToken: Int) {
        do {
            return try loader.estimate(path: path, options: options)
        } catch {
            throw EngineError(wrapping: error, while: "estimating \(path)")
        }
    }

    /// Counters after the last step.
    public func stats() -> EngineStatistics {
        mailbox.statistics
    }

    /// Finishes all requests with CANCELLED, frees the models and joins the thread; a load under way is waited for.
    /// Events not yet read stay readable. Idempotent.
    public func close() {
        mailbox.beginClose()
        thread?.join()
        events.close()
    }

    /// Submits and loads make events; while nobody reads them, no more are taken.
    private func refuseFullQueue() throws(EngineError) {
        guard !events.isFull else {
            throw EngineError(.busy, "\(Limits.eventsMax) events are unread, which is the limit; read them, then retry")
        }
    }
}
