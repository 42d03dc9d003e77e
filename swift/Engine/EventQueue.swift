/// Events from the engine thread to the one caller of `wait`.
///
/// Nothing is dropped but log lines. The queue is bounded because those who fill it look first: the scheduler does not
/// step a request that is over its share (`pressure`), and submits are refused while the whole is over its bound. So it
/// holds at most `eventsMax` events plus what one step adds plus one FINISH for each live request.
///
/// Invariants: events of a tag leave in the order they came; `undrained[tag]` counts those inside; `heavy` holds the
/// tags over `eventsPerRequestMax`.

/// Who may not produce more for now.
struct EventPressure: Sendable, Equatable {
    /// The whole queue is over its bound: nobody may.
    var full = false
    /// Requests over their own share.
    var heavyTags: Set<UInt32> = []

    /// Whether this request may be stepped.
    func allows(_ tag: UInt32) -> Bool { !full && !heavyTags.contains(tag) }
}

/// One producer, one reader at a time.
final class EventQueue: Sendable {
    private struct State: Sendable {
        var events: [EngineEvent] = []
        var undrained: [UInt32: Int] = [:]
        var heavy: Set<UInt32> = []
        var lostLogCount = 0
        var wakeRequested = false
        var reading = false
        var closed = false
    }

    private let state = Monitor(State())
    private let eventsMax: Int
    private let eventsPerRequestMax: Int
    private let onRelief: @Sendable () -> Void

    /// An empty queue. `onRelief` is called, on the reader's thread and without the lock, when a drain ends a pressure.
    init(
        eventsMax: Int = Limits.eventsMax, eventsPerRequestMax: Int = Limits.eventsPerRequestMax,
        onRelief: @escaping @Sendable () -> Void = {}
    ) {
        self.eventsMax = eventsMax
        self.eventsPerRequestMax = eventsPerRequestMax
        self.onRelief = onRelief
    }

    /// Adds events in order and lets the reader go on.
    func append(_ events: [EngineEvent]) {
        guard !events.isEmpty else { return }
        state.change { state in
            for event in events { add(event, to: &state) }
        }
    }

    /// Who is over a bound now.
    var pressure: EventPressure {
        state.withLock { EventPressure(full: $0.events.count >= eventsMax, heavyTags: $0.heavy) }
    }

    /// Whether the whole queue is over its bound.
    var isFull: Bool {
        state.withLock { $0.events.count >= eventsMax }
    }

    /// Waits for an event, a wake or the timeout, then drains what fits.
    ///
    /// A wake that comes while nobody waits ends the next wait at once, so none is lost. A timeout of 0 polls.
    /// - Throws: `argument` if another wait is in flight or `maxEvents` is 0; `space` if the first event's payload is
    ///   over `maxBytes`; `closed` once the queue is closed and empty.
    func wait(maxEvents: Int, maxBytes: Int, timeoutUs: UInt64) throws(EngineError) -> EventBatch {
        guard maxEvents > 0 else {
            throw EngineError(.argument, "The wait has room for 0 events; wanted is at least 1")
        }
        try state.withLock { (state) throws(EngineError) in
            guard !state.reading else {
                throw EngineError(.argument, "A second wait on one engine; wanted is at most one in flight")
            }
            state.reading = true
        }
        defer { state.withLock { $0.reading = false } }
        var relieved = false
        let batch = try state.wait(timeoutUs: timeoutUs) { (state) throws(EngineError) -> EventBatch? in
            if state.events.isEmpty && !state.wakeRequested && !state.closed { return nil }
            state.wakeRequested = false
            if state.events.isEmpty && state.closed {
                throw EngineError(.closed, "The engine is closed and all its events are read")
            }
            let before = isPressed(state)
            let events = try drain(&state, maxEvents: maxEvents, maxBytes: maxBytes)
            relieved = before && !events.isEmpty
            return EventBatch(events: events, pendingCount: state.events.count)
        }
        if relieved { onRelief() }
        return batch ?? EventBatch(events: [], pendingCount: 0)
    }

    /// Ends the wait in flight, or the next one.
    func wake() {
        state.change { $0.wakeRequested = true }
    }

    /// Nothing comes any more; what is inside can still be read.
    func close() {
        state.change { $0.closed = true }
    }

    private func isPressed(_ state: State) -> Bool {
        state.events.count >= eventsMax || !state.heavy.isEmpty
    }

    private func add(_ event: EngineEvent, to state: inout State) {
        if case .log(let level, let line) = event {
            guard state.events.count < eventsMax else {
                state.lostLogCount += 1
                return
            }
            if state.lostLogCount > 0 {
                let notice = "\(state.lostLogCount) log lines lost: the events were not read in time"
                state.events.append(.log(level: .warning, line: notice))
                state.lostLogCount = 0
            }
            state.events.append(.log(level: level, line: line.boundedMessage))
            return
        }
        state.events.append(event)
        guard let tag = event.requestTag else { return }
        let count = (state.undrained[tag] ?? 0) + 1
        state.undrained[tag] = count
        if count >= eventsPerRequestMax { state.heavy.insert(tag) }
    }

    /// Takes the longest run of events that fits.
    private func drain(
        _ state: inout State, maxEvents: Int, maxBytes: Int
    ) throws(EngineError) -> [EngineEvent] {
        var count = 0
        var bytes = 0
        for event in state.events.prefix(maxEvents) {
            bytes += event.payloadBytes
            if bytes > maxBytes { break }
            count += 1
        }
        if count == 0, let first = state.events.first {
            throw EngineError(
                .space, "The wait has room for \(maxBytes) bytes; the next event needs \(first.payloadBytes)")
        }
        let events = Array(state.events.prefix(count))
        state.events.removeFirst(count)
        for event in events {
            guard let tag = event.requestTag, let inside = state.undrained[tag] else { continue }
            state.undrained[tag] = inside > 1 ? inside - 1 : nil
            if inside - 1 < eventsPerRequestMax { state.heavy.remove(tag) }
        }
        return events
    }
}
