/// The queue by itself: order, bounds, waking, room.

import Testing

@testable import Engine

@Suite("EventQueue")
struct EventQueueTests {
    private func tokens(_ tag: UInt32, _ range: Range<Int>) -> [EngineEvent] {
        range.map { .token(tag: tag, index: $0, token: SampledToken(token: Int32($0))) }
    }

    /// Counts calls from any thread.
    private final class Counter: Sendable {
        private let count = Monitor(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test("Events leave in order, as many as fit, and the batch says how many are left")
    func order() throws {
        let queue = EventQueue()
        queue.append(tokens(1, 0..<3))
        queue.append(tokens(2, 0..<2))
        let first = try queue.wait(maxEvents: 4, maxBytes: 0, timeoutUs: 0)
        #expect(first.events == tokens(1, 0..<3) + tokens(2, 0..<1))
        #expect(first.pendingCount == 1)
        let second = try queue.wait(maxEvents: 4, maxBytes: 0, timeoutUs: 0)
        #expect(second.events == tokens(2, 1..<2) && second.pendingCount == 0)
        #expect(try queue.wait(maxEvents: 4, maxBytes: 0, timeoutUs: 0).events.isEmpty)
    }

    @Test("Payload bytes are counted as rmx.h lays them out")
    func payloads() {
        let top = [TokenLogprob(token: 1, logprob: -1), TokenLogprob(token: 2, logprob: -2)]
        #expect(EngineEvent.token(tag: 1, index: 0, token: SampledToken(token: 1, top: top)).payloadBytes == 16)
        #expect(EngineEvent.finish(tag: 1, result: .stop, usage: RequestUsage()).payloadBytes == 64)
        #expect(EngineEvent.finish(tag: 1, result: .cancelled("abc"), usage: RequestUsage()).payloadBytes == 72)
        let error = EngineError(.internal, "123456789")
        #expect(EngineEvent.finish(tag: 1, result: .failed(error), usage: RequestUsage()).payloadBytes == 80)
        #expect(EngineEvent.modelFailed(model: 1, error: error).payloadBytes == 16)
        #expect(EngineEvent.log(level: .info, line: "é").payloadBytes == 8)
        #expect(EngineEvent.prefill(tag: 1, doneTokens: 3).payloadBytes == 0)
    }

    @Test("What does not fit stays; a first event that does not fit says what it needs")
    func room() throws {
        let queue = EventQueue()
        let finish = EngineEvent.finish(tag: 1, result: .stop, usage: RequestUsage())
        queue.append([finish, finish])
        do {
            _ = try queue.wait(maxEvents: 9, maxBytes: 63, timeoutUs: 0)
            Issue.record("64 bytes were put into 63")
        } catch {
            #expect(error.code == .space && error.message.contains("64"))
        }
        #expect(try queue.wait(maxEvents: 9, maxBytes: 127, timeoutUs: 0).events == [finish])
        #expect(try queue.wait(maxEvents: 9, maxBytes: 128, timeoutUs: 0).events == [finish])
        #expect(throws: EngineError.self) { try queue.wait(maxEvents: 0, maxBytes: 64, timeoutUs: 0) }
    }

    @Test("A wake ends the next wait even if nobody waits yet, once")
    func wake() throws {
        let queue = EventQueue()
        queue.wake()
        queue.wake()
        #expect(try queue.wait(maxEvents: 1, maxBytes: 0, timeoutUs: 60_000_000).events.isEmpty)
        #expect(try queue.wait(maxEvents: 1, maxBytes: 0, timeoutUs: 0).events.isEmpty)
    }

    @Test("A wait is ended by an event, a wake and a close from another thread")
    func otherThread() throws {
        let queue = EventQueue()
        let events = try EngineThread { [tokens] in queue.append(tokens(1, 0..<1)) }
        #expect(try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 60_000_000).events.count == 1)
        events.join()
        let waking = try EngineThread { queue.wake() }
        #expect(try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 60_000_000).events.isEmpty)
        waking.join()
        let closing = try EngineThread { queue.close() }
        #expect(throws: EngineError(.closed, "The engine is closed and all its events are read")) {
            try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 60_000_000)
        }
        closing.join()
    }

    @Test("A second wait in flight is refused")
    func oneReader() throws {
        let queue = EventQueue()
        let refused = Counter()
        let entered = Counter()
        let threads = try (0..<2).map { _ in
            try EngineThread {
                do throws(EngineError) {
                    _ = try queue.wait(maxEvents: 1, maxBytes: 0, timeoutUs: 60_000_000)
                    entered.add()
                } catch {
                    if error.code == .argument { refused.add() }
                    // The other one waits: let it go.
                    queue.wake()
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(refused.value == 1 && entered.value == 1)
    }

    @Test("What is inside a closed queue can still be read")
    func closed() throws {
        let queue = EventQueue()
        queue.append(tokens(1, 0..<2))
        queue.close()
        #expect(try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 60_000_000).events.count == 2)
        #expect(throws: EngineError.self) { try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 0) }
    }

    @Test("Pressure names the requests over their share, and all when the whole is over its bound")
    func pressure() throws {
        let relief = Counter()
        let queue = EventQueue(eventsMax: 6, eventsPerRequestMax: 3, onRelief: { relief.add() })
        queue.append(tokens(1, 0..<3) + tokens(2, 0..<2))
        #expect(queue.pressure == EventPressure(full: false, heavyTags: [1]))
        #expect(!queue.pressure.allows(1) && queue.pressure.allows(2) && !queue.isFull)
        queue.append(tokens(2, 2..<3))
        #expect(queue.isFull && queue.pressure == EventPressure(full: true, heavyTags: [1, 2]))
        #expect(!queue.pressure.allows(9))
        _ = try queue.wait(maxEvents: 1, maxBytes: 0, timeoutUs: 0)
        #expect(queue.pressure == EventPressure(full: false, heavyTags: [2]))
        #expect(relief.value == 1)
        _ = try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 0)
        #expect(queue.pressure == EventPressure())
        #expect(relief.value == 2)
        _ = try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 0)
        queue.append(tokens(3, 0..<1))
        _ = try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 0)
        #expect(relief.value == 2)
    }

    @Test("Over the bound log lines are lost, counted and told; everything else stays")
    func logs() throws {
        let queue = EventQueue(eventsMax: 2, eventsPerRequestMax: 100)
        queue.append(tokens(1, 0..<2))
        queue.append([.log(level: .info, line: "a"), .log(level: .info, line: "b")])
        queue.append(tokens(1, 2..<3))
        #expect(try queue.wait(maxEvents: 9, maxBytes: 0, timeoutUs: 0).events == tokens(1, 0..<3))
        queue.append([.log(level: .info, line: "c")])
        let events = try queue.wait(maxEvents: 9, maxBytes: 1000, timeoutUs: 0).events
        #expect(
            events == [
                .log(level: .warning, line: "2 log lines lost: the events were not read in time"),
                .log(level: .info, line: "c"),
            ])
    }
}
