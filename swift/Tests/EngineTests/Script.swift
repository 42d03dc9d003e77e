/// A whole engine without its thread: the test turns the loop by hand on a clock by hand, and after each turn every
/// invariant of the scheduler and of the event stream is checked.

import Testing

@testable import Engine

/// An engine under a scenario.
final class Script {
    let clock = ManualClock()
    let loader: FakeLoader
    let engine: EngineHandle
    let loop: EngineLoop
    /// Events read so far.
    private(set) var events: [EngineEvent] = []
    /// Whether each turn reads all events; off: the reader is slow.
    var reads = true
    /// Requests that were told masks or tokens: what they give is for their test to check.
    var boundTags: Set<UInt32> = []
    /// Handles by path.
    private(set) var models: [String: UInt32] = [:]
    let runners: [String: FakeRunner]

    private let config: EngineConfig
    private var requests: [UInt32: EngineRequest] = [:]
    private var finished: [UInt32: FinishResult] = [:]
    private var nextTag: UInt32 = 1

    /// Opens the engine and loads every runner.
    init(
        _ config: EngineConfig = EngineConfig(), runners: [String: FakeRunner] = ["model": FakeRunner()],
        eventsMax: Int = Limits.eventsMax, eventsPerRequestMax: Int = Limits.eventsPerRequestMax
    ) throws {
        let loader = FakeLoader(runners)
        let mailbox = Mailbox(config: config)
        let queue = EventQueue(
            eventsMax: eventsMax, eventsPerRequestMax: eventsPerRequestMax, onRelief: { mailbox.poke() })
        self.config = config
        self.loader = loader
        self.runners = runners
        engine = EngineHandle(
            config: config, loader: loader, clock: clock, mailbox: mailbox, events: queue, thread: nil)
        loop = EngineLoop(config: config, loader: loader, clock: clock, mailbox: mailbox, events: queue)
        for path in runners.keys.sorted() {
            models[path] = try engine.loadModel(path: path, options: ModelOptions())
            try turn()
        }
    }

    /// The handle of the only model.
    var model: UInt32 { models["model"] ?? 0 }
    /// The runner of the only model.
    var runner: FakeRunner { runners["model"] ?? FakeRunner() }

    /// Submits a prompt of so many tokens with a new tag, and gives the tag.
    @discardableResult
    func submit(
        _ promptTokens: Int, max maxTokens: Int = 4, path: String = "model",
        _ change: (inout EngineRequest) -> Void = { _ in }
    ) throws -> UInt32 {
        let tag = nextTag
        nextTag += 1
        let prompt = (0..<promptTokens).map { Int32(($0 * 7 + Int(tag) * 13) % FakeModel.vocabularySize) }
        var request = EngineRequest(tag: tag, model: models[path] ?? 0, prompt: prompt, maxTokens: maxTokens)
        change(&request)
        try engine.submit(request)
        requests[request.tag] = request
        return request.tag
    }

    /// One turn of the loop; then reads, unless the reader is slow, and checks.
    @discardableResult
    func turn() throws -> EngineLoop.Next {
        let next = loop.turn(waitUs: 0)
        if reads { try read() }
        checkInvariants()
        return next
    }

    /// Turns until there is nothing to do.
    func runAll(turnsMax: Int = 100_000) throws {
        // A slow reader that begins to read lets parked requests go on.
        if reads { try read() }
        for _ in 0..<turnsMax {
            if try turn() != .turn(waitUs: 0) { return }
        }
        Issue.record("still at work after \(turnsMax) turns")
    }

    /// Reads what is there, at most so many, and checks each event against those before it.
    func read(maxEvents: Int = .max) throws {
        var left = maxEvents
        while left > 0 {
            let batch: EventBatch
            do throws(EngineError) {
                batch = try engine.wait(maxEvents: min(left, 4096), maxBytes: 1 << 20, timeoutMs: 0)
            } catch {
                #expect(error.code == .closed)
                return
            }
            if batch.events.isEmpty { return }
            left -= batch.events.count
            for event in batch.events { check(event) }
            events += batch.events
        }
    }

    // MARK: - What came

    /// Tokens of a request.
    func tokens(_ tag: UInt32) -> [SampledToken] {
        events.compactMap { event in
            if case .token(tag, _, let token) = event { token } else { nil }
        }
    }

    /// How a request ended.
    func result(_ tag: UInt32) -> FinishResult? { finished[tag] }

    /// What a request cost.
    func usage(_ tag: UInt32) -> RequestUsage? {
        for case .finish(tag, _, let usage) in events { return usage }
        return nil
    }

    /// Tags in order of their first event.
    var firstEventOrder: [UInt32] {
        var seen: Set<UInt32> = []
        return events.compactMap(\.requestTag).filter { seen.insert($0).inserted }
    }

    /// Every accepted request has its FINISH, and what it gave is what it gives alone (or the beginning of it).
    func checkAllFinished(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Set(finished.keys) == Set(requests.keys), sourceLocation: sourceLocation)
        var drawn: [UInt32: [SampledToken]] = [:]
        for case .token(let tag, _, let token) in events { drawn[tag, default: []].append(token) }
        for (tag, request) in requests {
            if boundTags.contains(tag) { continue }
            guard let context = loop.scheduler.models[request.model]?.description.contextTokens else { continue }
            let alone = FakeModel.alone(request, contextTokens: context)
            let tokens = drawn[tag] ?? []
            switch finished[tag] {
            case .stop, .length:
                #expect(tokens == alone.tokens, "request \(tag) differs from itself alone")
                #expect(finished[tag] == alone.result)
            default: #expect(alone.tokens.starts(with: tokens), "request \(tag) differs from itself alone")
            }
        }
        let statistics = engine.stats()
        #expect(statistics.running == 0 && statistics.waiting == 0 && statistics.kvBytes == 0)
        #expect(statistics.submitted == statistics.completed + statistics.cancelled + statistics.failed)
        for runner in runners.values {
            #expect(runner.openRows.isEmpty)
            #expect(runner.openedCount == runner.closedCount)
        }
    }

    // MARK: - Invariants

    private var lastIndex: [UInt32: Int] = [:]
    private var lastPrefill: [UInt32: Int] = [:]

    /// One event against those before it.
    private func check(_ event: EngineEvent) {
        guard let tag = event.requestTag else { return }
        #expect(finished[tag] == nil, "an event of \(tag) after its FINISH: \(event)")
        switch event {
        case .prefill(_, let done):
            #expect(done > lastPrefill[tag] ?? 0 && done <= requests[tag]?.prompt.count ?? 0)
            #expect(lastIndex[tag] == nil, "PREFILL after a TOKEN")
            lastPrefill[tag] = done
        case .token(_, let index, _):
            #expect(index == (lastIndex[tag] ?? -1) + 1)
            #expect(lastPrefill[tag] == requests[tag]?.prompt.count, "a TOKEN before the whole prompt")
            lastIndex[tag] = index
        case .finish(_, let result, _): finished[tag] = result
        default: break
        }
    }

    /// Scheduler, runners and counters agree.
    private func checkInvariants() {
        let scheduler = loop.scheduler
        #expect(scheduler.running.count <= config.maxRequests)
        #expect(scheduler.running.count + scheduler.waiting.count <= config.maxRequests + config.maxQueue)
        #expect(scheduler.budget.cacheBytes == scheduler.running.reduce(0) { $0 + $1.priceBytes })
        if let bytes = config.memoryBytes {
            #expect(scheduler.budget.cacheBytes + scheduler.budget.weightBytes <= bytes)
        }
        let clients = Set((scheduler.running + scheduler.waiting).map(\.request.client))
        #expect(scheduler.admissionTurns.count <= clients.count && scheduler.prefillTurns.count <= clients.count)
        let tags = (scheduler.running + scheduler.waiting).map(\.tag)
        #expect(Set(tags).count == tags.count)
        for request in scheduler.waiting {
            #expect(request.phase == .waiting && request.sequence == nil)
        }
        var rows: [UInt32: [SequenceID: Int]] = [:]
        for request in scheduler.running {
            guard let sequence = request.sequence else {
                Issue.record("request \(request.tag) runs without a sequence")
                continue
            }
            let prompt = request.request.prompt.count
            switch request.phase {
            case .prefill(let done):
                #expect(done < prompt && request.completionTokens == 0)
                rows[request.request.model, default: [:]][sequence] = done
            case .decode: rows[request.request.model, default: [:]][sequence] = prompt + request.completionTokens - 1
            case .held:
                #expect(request.request.masked)
                rows[request.request.model, default: [:]][sequence] = prompt + request.completionTokens
            case .waiting, .finished: Issue.record("request \(request.tag) runs in phase \(request.phase)")
            }
            #expect(request.completionTokens < request.tokensMax)
        }
        for (path, handle) in models {
            guard let runner = runners[path] else { continue }
            #expect(runner.faults.isEmpty, "the runner was misused: \(runner.faults)")
            #expect(runner.openRows == rows[handle] ?? [:])
            #expect(runner.halfOpen.isEmpty)
        }
        let statistics = engine.stats()
        let ended = statistics.completed + statistics.cancelled + statistics.failed
        #expect(statistics.running == scheduler.running.count)
        #expect(statistics.submitted == ended + statistics.running + statistics.waiting)
    }
}
