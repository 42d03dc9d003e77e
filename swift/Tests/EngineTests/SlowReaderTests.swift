/// A reader that does not keep up parks what it would have to read; nothing is lost and nothing grows.

import Testing

@testable import Engine

@Suite("Slow readers")
struct SlowReaderTests {
    @Test("A request with too many unread events is parked; its neighbour goes on")
    func parksOne() throws {
        let script = try Script(eventsPerRequestMax: 10)
        script.reads = false
        let heavy = try script.submit(3, max: 100) { $0.client = 1 }
        for _ in 0..<7 { try script.turn() }
        // Two prefill-and-decode streams; the first is ahead and reaches its share first.
        let light = try script.submit(3, max: 3) { $0.client = 2 }
        for _ in 0..<6 { try script.turn() }
        #expect(try script.turn() == .turn(waitUs: nil))
        let running = script.loop.scheduler.running
        #expect(running.map(\.tag) == [heavy])
        #expect(running.first?.completionTokens == 9)
        try script.read()
        #expect(script.result(light) == .length)
        script.reads = true
        try script.runAll()
        script.checkAllFinished()
        #expect(script.tokens(heavy).count == 100)
    }

    @Test("A full queue parks all, refuses submits and loads, and goes on where it was")
    func parksAll() throws {
        var config = EngineConfig()
        config.maxRequests = 8
        let script = try Script(config, eventsMax: 40, eventsPerRequestMax: 1000)
        script.reads = false
        let tags = try (0..<8).map { _ in try script.submit(2, max: 50) }
        for _ in 0..<20 { try script.turn() }
        #expect(try script.turn() == .turn(waitUs: nil))
        // 16 events in the first step, 8 in each of the next; the fourth reaches 40.
        #expect(script.engine.stats().completionTokens == 32)
        #expect(throws: EngineError.self) { try script.submit(2) }
        #expect(throws: EngineError.self) {
            try script.engine.loadModel(path: "model", options: ModelOptions())
        }
        try script.read(maxEvents: 1)
        #expect(try script.turn() == .turn(waitUs: 0))
        script.reads = true
        try script.runAll()
        script.checkAllFinished()
        for tag in tags { #expect(script.tokens(tag).count == 50) }
    }

    @Test("A cancel of a parked request is answered though nobody reads")
    func cancelParked() throws {
        let script = try Script(eventsMax: 5)
        script.reads = false
        let tag = try script.submit(2, max: 50)
        for _ in 0..<20 { try script.turn() }
        script.engine.cancel(tag: tag)
        try script.turn()
        #expect(script.engine.stats().cancelled == 1 && script.engine.stats().running == 0)
        try script.read()
        script.checkAllFinished()
    }

    @Test("Submit and cancel without reading does not grow the queue without end")
    func floodOfCancels() throws {
        let script = try Script(eventsMax: 100)
        script.reads = false
        var accepted = 0
        for _ in 0..<1000 {
            guard let tag = try? script.submit(2, max: 50) else { continue }
            accepted += 1
            script.engine.cancel(tag: tag)
            try script.turn()
        }
        #expect(accepted == 100)
        try script.read()
        script.checkAllFinished()
    }
}
