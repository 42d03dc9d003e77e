/// Who may start: places, memory, priority, fairness, and what is refused at submit.

import Testing

@testable import Engine

@Suite("Scheduler admission")
struct SchedulerAdmissionTests {
    /// One place, so that the order of starts is the order of first events.
    private func onePlace(queue: Int = 100) -> EngineConfig {
        var config = EngineConfig()
        config.maxRequests = 1
        config.maxQueue = queue
        return config
    }

    /// The code of the error that `body` throws.
    private func code(_ body: () throws -> Void) -> EngineError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? EngineError)?.code
        }
    }

    @Test("Requests of one client start in order of arrival")
    func arrival() throws {
        let script = try Script(onePlace())
        let tags = try (0..<5).map { _ in try script.submit(3) }
        try script.runAll()
        script.checkAllFinished()
        #expect(script.firstEventOrder == tags)
    }

    @Test("Two clients take turns, however many requests one of them has queued")
    func fairness() throws {
        let script = try Script(onePlace())
        let flood = try (0..<6).map { _ in try script.submit(3) { $0.client = 1 } }
        try script.turn()
        let rare = try (0..<2).map { _ in try script.submit(3) { $0.client = 2 } }
        try script.runAll()
        script.checkAllFinished()
        let wanted = [flood[0], flood[1], rare[0], flood[2], rare[1], flood[3], flood[4], flood[5]]
        #expect(script.firstEventOrder == wanted)
    }

    @Test("New clients come after those that wait, so a client that renames itself gains nothing")
    func newClients() throws {
        let script = try Script(onePlace())
        try script.submit(3) { $0.client = 1 }
        try script.turn()
        let honest = try script.submit(3) { $0.client = 1 }
        let renamed = try (10..<13).map { client in try script.submit(3) { $0.client = UInt32(client) } }
        try script.runAll()
        script.checkAllFinished()
        #expect(Array(script.firstEventOrder.dropFirst()) == [honest] + renamed)
    }

    @Test("Higher priority starts first")
    func priority() throws {
        let script = try Script(onePlace())
        let low = try script.submit(3) { $0.priority = -1 }
        let normal = try script.submit(3)
        let high = try script.submit(3) { $0.priority = 5 }
        try script.runAll()
        script.checkAllFinished()
        #expect(script.firstEventOrder == [high, normal, low])
    }

    @Test("Clients take turns at the prefill rows too")
    func prefillTurns() throws {
        var config = EngineConfig()
        config.maxRequests = 8
        config.prefillChunkTokens = 10
        config.maxStepTokens = 18
        let script = try Script(config)
        let first = try (0..<4).map { _ in try script.submit(30, max: 1) { $0.client = 1 } }
        let other = try script.submit(30, max: 1) { $0.client = 2 }
        try script.runAll()
        script.checkAllFinished()
        let ends = script.events.compactMap { event in
            if case .finish(let tag, _, _) = event { tag } else { nil }
        }
        // 3 chunks each, alternating: the other client ends right after the first prompt, not after all four.
        #expect(ends == [first[0], other, first[1], first[2], first[3]])
    }

    @Test("Over running and waiting, a submit is busy, and fits again after a FINISH")
    func busy() throws {
        let script = try Script(onePlace(queue: 2))
        for _ in 0..<3 { try script.submit(3) }
        #expect(code { try script.submit(3) } == .busy)
        try script.turn()
        #expect(code { try script.submit(3) } == .busy)
        try script.runAll()
        try script.submit(3)
        try script.runAll()
        script.checkAllFinished()
        #expect(script.engine.stats().submitted == 4)
    }

    @Test("A price over what the weights leave is refused at once, with the numbers")
    func neverFits() throws {
        var config = EngineConfig()
        config.memoryBytes = 1000 + 500
        let script = try Script(config)
        try script.submit(40, max: 10)
        do {
            try script.submit(40, max: 11)
            Issue.record("a price of 510 of 500 bytes was accepted")
        } catch let error as EngineError {
            #expect(error.code == .memory)
            #expect(error.message.contains("510") && error.message.contains("500"))
        }
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("The worst case is capped to the context")
    func cappedPrice() throws {
        var config = EngineConfig()
        config.memoryBytes = 1000 + 640
        let script = try Script(config, runners: ["model": FakeRunner(.fake(contextTokens: 64))])
        try script.submit(10, max: 1_000_000)
        try script.turn()
        #expect(script.engine.stats().kvBytes == 640)
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("What fits later waits until memory is free")
    func waitsForMemory() throws {
        var config = EngineConfig()
        config.memoryBytes = 1000 + 500
        let script = try Script(config)
        try script.submit(20, max: 10)
        let second = try script.submit(20, max: 10)
        try script.turn()
        #expect(script.loop.scheduler.running.count == 1)
        #expect(script.loop.scheduler.waiting.map(\.tag) == [second])
        try script.runAll()
        script.checkAllFinished()
        #expect(script.engine.stats().completed == 2)
    }

    @Test("Smaller requests overtake one that does not fit yet, but only so often")
    func overtaking() throws {
        var config = EngineConfig()
        config.maxRequests = 2
        config.memoryBytes = 1000 + 1000
        let script = try Script(config)
        // Takes half for long; the large one needs nearly all.
        try script.submit(10, max: 40)
        try script.turn()
        let large = try script.submit(80, max: 10)
        let small = try (0..<20).map { _ in try script.submit(2, max: 1) }
        try script.runAll()
        script.checkAllFinished()
        let order = script.firstEventOrder
        let place = try #require(order.firstIndex(of: large))
        #expect(order[1..<place].count == Limits.overtakesMax)
        #expect(Array(order[1..<place]) == Array(small.prefix(Limits.overtakesMax)))
    }

    @Test("A waiting request that a new model leaves no room for ends with a memory error")
    func roomTaken() throws {
        var config = EngineConfig()
        config.memoryBytes = 3000
        config.maxRequests = 1
        let script = try Script(config, runners: ["model": FakeRunner(), "other": FakeRunner()])
        try script.engine.unloadModel(script.models["other"] ?? 0)
        try script.turn()
        try script.submit(10, max: 90)
        try script.turn()
        let second = try script.submit(10, max: 140)
        _ = try script.engine.loadModel(path: "other", options: ModelOptions())
        try script.runAll()
        script.checkAllFinished()
        guard case .failed(let error) = script.result(second) else {
            Issue.record("wanted a failure, found \(String(describing: script.result(second)))")
            return
        }
        #expect(error.code == .memory)
    }

    @Test("A prompt that leaves no room in the context is refused with both numbers")
    func contextAtSubmit() throws {
        let script = try Script(runners: ["model": FakeRunner(.fake(contextTokens: 8))])
        try script.submit(7)
        do {
            try script.submit(8)
            Issue.record("a prompt as long as the context was accepted")
        } catch let error as EngineError {
            #expect(error.code == .argument)
            #expect(error.message.contains("8 tokens") && error.message.contains("context of 8"))
        }
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("A tag in use is refused and free again once its FINISH is out")
    func tagInUse() throws {
        let script = try Script()
        try script.submit(3) { $0.tag = 900 }
        #expect(code { try script.submit(3) { $0.tag = 900 } } == .argument)
        try script.runAll()
        var again = EngineRequest(tag: 900, model: script.model, prompt: [1, 2], maxTokens: 1)
        again.client = 3
        #expect(code { try script.engine.submit(again) } == nil)
    }

    @Test("A cache that cannot be opened ends its request only")
    func openFails() throws {
        let script = try Script()
        let first = try script.submit(3)
        try script.turn()
        script.runner.openError = EngineError(.memory, "no pages")
        let second = try script.submit(3)
        try script.turn()
        script.runner.openError = nil
        try script.runAll()
        #expect(script.result(second) == .failed(EngineError(.memory, "no pages")))
        #expect(script.result(first) == .length)
        script.checkAllFinished()
    }
}
