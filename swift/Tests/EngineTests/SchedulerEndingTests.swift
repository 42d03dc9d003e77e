/// How requests end before their time: cancels in every phase, deadlines, errors of a segment and of a step, unload,
/// close.

import Testing

@testable import Engine

@Suite("Scheduler endings")
struct SchedulerEndingTests {
    private struct Boom: Error {}

    private func isCancelled(_ result: FinishResult?) -> Bool {
        if case .cancelled = result { true } else { false }
    }

    private func failure(_ result: FinishResult?) -> EngineError? {
        if case .failed(let error) = result { error } else { nil }
    }

    @Test("A cancel in the queue gives CANCELLED with nothing used")
    func cancelWaiting() throws {
        var config = EngineConfig()
        config.maxRequests = 1
        let script = try Script(config)
        try script.submit(3, max: 10)
        let waiting = try script.submit(3) { $0.sampling.seed = 5 }
        try script.turn()
        script.engine.cancel(tag: waiting)
        script.clock.advance(us: 10)
        try script.turn()
        #expect(isCancelled(script.result(waiting)))
        var nothing = RequestUsage()
        nothing.seed = 5
        #expect(script.usage(waiting) == nothing)
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("A cancel before the first turn means that the request never steps")
    func cancelAtOnce() throws {
        let script = try Script()
        let tag = try script.submit(3)
        script.engine.cancel(tag: tag)
        try script.runAll()
        #expect(isCancelled(script.result(tag)))
        #expect(script.runner.steps.isEmpty)
        script.checkAllFinished()
    }

    @Test("A cancel in the middle of a prefill ends it before the next chunk")
    func cancelPrefill() throws {
        var config = EngineConfig()
        config.prefillChunkTokens = 4
        let script = try Script(config)
        script.runner.beforeStep = { [clock = script.clock] _ in clock.advance(us: 7) }
        let tag = try script.submit(40)
        try script.turn()
        script.engine.cancel(tag: tag)
        try script.runAll()
        #expect(isCancelled(script.result(tag)))
        #expect(script.runner.steps.count == 1)
        let usage = try #require(script.usage(tag))
        #expect(usage.promptTokens == 40 && usage.completionTokens == 0 && usage.prefillUs == 7)
        script.checkAllFinished()
    }

    @Test("A cancel in decode ends it before the next step, and neighbours go on")
    func cancelDecode() throws {
        let script = try Script()
        let leaving = try script.submit(3, max: 50)
        let staying = try script.submit(3, max: 50)
        for _ in 0..<5 { try script.turn() }
        script.engine.cancel(tag: leaving)
        script.engine.cancel(tag: leaving)
        try script.runAll()
        #expect(isCancelled(script.result(leaving)))
        #expect(script.tokens(leaving).count == 5)
        #expect(script.result(staying) == .length)
        #expect(script.engine.stats().cancelled == 1)
        script.checkAllFinished()
    }

    @Test("Cancels of unknown and finished tags change nothing and leave nothing behind")
    func cancelUnknown() throws {
        let script = try Script()
        let tag = try script.submit(3)
        try script.runAll()
        let before = script.events
        for _ in 0..<1000 {
            script.engine.cancel(tag: tag)
            script.engine.cancel(tag: 4242)
        }
        #expect(try script.turn() == .turn(waitUs: nil))
        #expect(script.events == before)
        script.checkAllFinished()
    }

    @Test("Cancels are posted once for each live request, however often they are asked for")
    func cancelsAreBounded() throws {
        let mailbox = Mailbox(config: EngineConfig())
        let handle = try mailbox.load(path: "model", options: ModelOptions())
        mailbox.setReady(handle, .fake())
        try mailbox.submit(EngineRequest(tag: 7, model: handle, prompt: [1], maxTokens: 1), nowUs: 0)
        _ = mailbox.take(timeoutUs: 0)
        for _ in 0..<1000 {
            mailbox.cancel(tag: 7)
            mailbox.cancel(tag: 8)
        }
        #expect(mailbox.take(timeoutUs: 0).commands.count == 1)
    }

    @Test("A deadline ends a request in every phase, and says so")
    func deadline() throws {
        var config = EngineConfig()
        config.maxRequests = 2
        config.prefillChunkTokens = 4
        let script = try Script(config)
        let decoding = try script.submit(3, max: 500) { $0.deadlineMs = 20 }
        let prefilling = try script.submit(900, max: 1) { $0.deadlineMs = 30 }
        let waiting = try script.submit(3) { $0.deadlineMs = 10 }
        script.runner.beforeStep = { [clock = script.clock] _ in clock.advance(us: 1000) }
        try script.runAll()
        script.checkAllFinished()
        for tag in [decoding, prefilling, waiting] {
            guard case .cancelled(let message) = script.result(tag) else {
                Issue.record("request \(tag) ended with \(String(describing: script.result(tag)))")
                continue
            }
            #expect(message.contains("deadline"))
        }
        #expect(script.tokens(decoding).count == 20)
        #expect(script.runner.steps.count == 30)
    }

    @Test("An idle engine says when the next deadline is")
    func idleUntilDeadline() throws {
        let script = try Script(eventsPerRequestMax: 2)
        script.reads = false
        let tag = try script.submit(3, max: 500) { $0.deadlineMs = 5 }
        try script.turn()
        // Parked: two events are unread.
        #expect(try script.turn() == .turn(waitUs: 5000))
        script.clock.advance(us: 5000)
        try script.turn()
        try script.read()
        #expect(isCancelled(script.result(tag)))
        script.checkAllFinished()
    }

    @Test("A segment that fails ends its request only")
    func segmentFails() throws {
        let script = try Script()
        let tags = try (0..<4).map { try script.submit(3 + $0, max: 6) }
        script.runner.outcome = { segment, outcome in
            segment.position == 6 ? .failed(EngineError(.internal, "row is NaN")) : outcome
        }
        // Only the prompt of 6 tokens reaches position 6 with its first decode row; the shorter ones later.
        try script.runAll()
        script.checkAllFinished()
        for tag in tags { #expect(failure(script.result(tag))?.message == "row is NaN") }
        #expect(tags.map { script.tokens($0).count } == [4, 3, 2, 1])
        script.runner.outcome = { $1 }
        let after = try script.submit(3)
        try script.runAll()
        #expect(script.result(after) == .length)
    }

    @Test("A step that throws fails its requests, spares those outside it, and the engine goes on")
    func stepThrows() throws {
        var config = EngineConfig()
        config.maxRequests = 4
        config.prefillChunkTokens = 8
        config.maxStepTokens = 12
        let script = try Script(config)
        let inStep = try script.submit(8)
        let outside = try script.submit(8)
        script.runner.beforeStep = { _ in throw Boom() }
        try script.turn()
        script.runner.beforeStep = { _ in }
        #expect(failure(script.result(inStep))?.code == .internal)
        #expect(script.result(outside) == nil)
        try script.runAll()
        #expect(script.result(outside) == .length)
        #expect(script.engine.stats().failed == 1 && script.engine.stats().completed == 1)
        let logged = script.events.contains { event in
            if case .log(.error, let line) = event { line.contains("Boom") } else { false }
        }
        #expect(logged)
        script.checkAllFinished()
    }

    @Test("An error of the runner's own keeps its code")
    func typedStepError() throws {
        let script = try Script()
        let tag = try script.submit(3)
        script.runner.beforeStep = { _ in throw EngineError(.memory, "out of memory") }
        try script.turn()
        #expect(failure(script.result(tag)) == EngineError(.memory, "out of memory"))
        script.checkAllFinished()
    }

    @Test("Outcomes that break the promise of a runner are internal errors, not crashes")
    func brokenRunner() throws {
        let script = try Script()
        let advancedInstead = try script.submit(3)
        script.runner.outcome = { _, _ in .advanced }
        try script.runAll()
        #expect(failure(script.result(advancedInstead))?.code == .internal)
        let outsideVocabulary = try script.submit(3)
        script.runner.outcome = { _, _ in .sampled(SampledToken(token: 100)) }
        try script.runAll()
        #expect(failure(script.result(outsideVocabulary))?.message.contains("100") == true)
        let sampledInstead = try script.submit(300)
        script.runner.outcome = { _, _ in .sampled(SampledToken(token: 1)) }
        try script.runAll()
        #expect(failure(script.result(sampledInstead))?.code == .internal)
        script.checkAllFinished()
    }

    @Test("Long messages are cut at a character")
    func longMessages() throws {
        let script = try Script()
        let tag = try script.submit(3)
        script.runner.beforeStep = { _ in throw EngineError(.internal, String(repeating: "é", count: 2000)) }
        try script.runAll()
        let message = try #require(failure(script.result(tag))?.message)
        #expect(message.utf8.count <= Limits.messageBytesMax && message.hasSuffix("é…"))
        #expect(script.events.allSatisfy { $0.payloadBytes <= Limits.eventPayloadBytesMax })
    }

    @Test("An unload cancels the model's requests, running and waiting, and no others")
    func unload() throws {
        var config = EngineConfig()
        config.maxRequests = 2
        let script = try Script(config, runners: ["a": FakeRunner(), "b": FakeRunner()])
        let running = try script.submit(3, max: 50, path: "a")
        let other = try script.submit(3, max: 50, path: "b")
        let waiting = try script.submit(3, path: "a")
        try script.turn()
        let handle = try #require(script.models["a"])
        try script.engine.unloadModel(handle)
        #expect(throws: EngineError.self) { try script.engine.unloadModel(handle) }
        #expect(throws: EngineError.self) { try script.submit(3, path: "a") }
        try script.runAll()
        #expect(isCancelled(script.result(running)) && isCancelled(script.result(waiting)))
        #expect(script.result(other) == .length)
        #expect(script.events.contains(.modelUnloaded(model: handle)))
        #expect(script.engine.stats().models == 1 && script.engine.stats().openHandles == 1)
        #expect(script.loader.trimCount == 1)
        script.checkAllFinished()
    }

    @Test("A submit between the caller's check and an unload still gets its FINISH")
    func submitThenUnload() throws {
        let script = try Script()
        let tag = try script.submit(3)
        try script.engine.unloadModel(script.model)
        try script.runAll()
        #expect(isCancelled(script.result(tag)))
        script.checkAllFinished()
    }

    @Test("A close finishes everything with CANCELLED; then nothing is accepted")
    func close() throws {
        var config = EngineConfig()
        config.maxRequests = 2
        let script = try Script(config)
        let tags = try (0..<5).map { _ in try script.submit(3, max: 50) }
        try script.turn()
        let late = try script.submit(3)
        script.engine.close()
        #expect(throws: EngineError(.closed, "The engine is closing")) { try script.submit(3) }
        #expect(try script.turn() == .end)
        for tag in tags + [late] { #expect(isCancelled(script.result(tag))) }
        #expect(script.engine.stats().cancelled == 6)
        script.checkAllFinished()
    }
}
