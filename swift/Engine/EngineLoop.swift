/// What the engine thread does until the engine is closed: take commands, run a step, tell what happened.
///
/// Holds no lock while a step or a load runs.

#if canImport(Darwin)
import ObjectiveC
#endif

/// The loop and its scheduler; made and used on the engine thread alone.
struct EngineLoop {
    private let loader: any ModelLoader
    private let clock: any EngineClock
    private let mailbox: Mailbox
    private let events: EventQueue
    private let config: EngineConfig
    /// Requests and models.
    let scheduler: Scheduler

    /// Nothing loaded yet.
    init(
        config: EngineConfig, loader: any ModelLoader, clock: any EngineClock, mailbox: Mailbox, events: EventQueue
    ) {
        self.config = config
        self.loader = loader
        self.clock = clock
        self.mailbox = mailbox
        self.events = events
        scheduler = Scheduler(config: config, clock: clock, guides: mailbox)
    }

    /// What comes after a turn.
    enum Next: Equatable {
        /// Another turn, which may wait so long for commands; nil: without end.
        case turn(waitUs: UInt64?)
        /// Closed: every request has its FINISH and no runner is left.
        case end
    }

    /// Turns until the engine is closed.
    func run() {
        var waitUs: UInt64? = 0
        while case .turn(let next) = turn(waitUs: waitUs) { waitUs = next }
    }

    /// Takes commands, waiting so long if there are none, and runs a step.
    func turn(waitUs: UInt64?) -> Next {
        let intake = mailbox.take(timeoutUs: waitUs)
        var next = Next.end
        pooled {
            for command in intake.commands { obey(command, closing: intake.closing) }
            if intake.closing { end() } else { next = .turn(waitUs: step()) }
        }
        return next
    }

    /// Objects that Apple's frameworks autorelease have no run loop on this thread that would free them.
    private func pooled(_ body: () -> Void) {
        #if canImport(Darwin)
        autoreleasepool(invoking: body)
        #else
        body()
        #endif
    }

    private func obey(_ command: Command, closing: Bool) {
        switch command {
        case .submit(let request): scheduler.submit(request)
        case .cancel(let tag): scheduler.cancel(tag: tag)
        case .load(let handle, let path, let options):
            if closing {
                fail(handle, EngineError(.closed, "The engine was closed before the model was loaded"))
            } else {
                load(handle, path, options)
            }
        case .unload(let handle): unload(handle)
        }
    }

    /// Gives how long the next turn may wait: not at all after work.
    private func step() -> UInt64? {
        let progress = scheduler.step(events.pressure)
        flush()
        switch progress {
        case .worked: return 0
        case .idle(nil): return nil
        case .idle(let untilUs?):
            let nowUs = clock.nowUs()
            return untilUs > nowUs ? untilUs - nowUs : 0
        }
    }

    /// Tags and counters first, then events: see `Mailbox.publish`.
    private func flush() {
        let out = scheduler.flush()
        var statistics = out.statistics
        let memory = loader.memory()
        statistics.activeMemoryBytes = memory.activeBytes
        statistics.peakMemoryBytes = memory.peakBytes
        statistics.cacheMemoryBytes = memory.cacheBytes
        mailbox.publish(statistics, finishedTags: out.finishedTags)
        events.append(out.events)
    }

    private func end() {
        scheduler.cancelAll("The engine was closed")
        for handle in scheduler.models.keys {
            scheduler.removeModel(handle)
            mailbox.free(handle)
        }
        loader.trimMemory()
        flush()
    }

    // MARK: - Models

    private func load(_ handle: UInt32, _ path: String, _ options: ModelOptions) {
        // Its unload is among the next commands and tells the end.
        if mailbox.isUnloading(handle) { return }
        // What happened before this call must not wait for the load.
        flush()
        do {
            try checkRoom(path, options)
            var toldPerMille = 0
            events.append([.modelProgress(model: handle, perMille: 0)])
            let runner = try loader.load(path: path, options: options) { perMille in
                guard perMille >= toldPerMille + Limits.progressStepPerMille, perMille <= 1000 else { return }
                toldPerMille = perMille
                events.append([.modelProgress(model: handle, perMille: perMille)])
            }
            scheduler.addModel(handle, runner)
            mailbox.setReady(handle, runner.description)
            flush()
            events.append([.modelReady(model: handle)])
        } catch {
            loader.trimMemory()
            fail(handle, EngineError(wrapping: error, while: "loading \(path)"))
        }
    }

    /// - Throws: `memory`, with the numbers, if the weights are over what is free; what `estimate` throws.
    private func checkRoom(_ path: String, _ options: ModelOptions) throws {
        guard let bytes = config.memoryBytes else { return }
        let wanted = try loader.estimate(path: path, options: options).weightBytes
        let taken = scheduler.budget.weightBytes + scheduler.budget.cacheBytes
        guard wanted <= bytes - taken else {
            throw EngineError(
                .memory,
                "The weights of \(path) take \(wanted) bytes; the budget of \(bytes) leaves \(bytes - taken) beside "
                    + "\(taken) in use")
        }
    }

    private func fail(_ handle: UInt32, _ error: EngineError) {
        mailbox.free(handle)
        let bounded = EngineError(error.code, error.message.boundedMessage)
        events.append([.modelFailed(model: handle, error: bounded)])
    }

    private func unload(_ handle: UInt32) {
        // A load that failed after the unload was asked has freed the handle and told so.
        guard mailbox.isUnloading(handle) else { return }
        scheduler.removeModel(handle)
        loader.trimMemory()
        mailbox.free(handle)
        flush()
        events.append([.modelUnloaded(model: handle)])
    }
}
