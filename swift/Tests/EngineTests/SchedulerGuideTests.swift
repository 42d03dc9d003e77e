/// Masked requests: told in time, late, ahead or never, alone and beside others, and how they end.

import Testing

@testable import Engine

@Suite("Scheduler guides")
struct SchedulerGuideTests {
    private struct Boom: Error {}

    private func mask(_ tokens: Int32...) -> [UInt32] {
        var words = [UInt32](repeating: 0, count: (FakeModel.vocabularySize + 31) / 32)
        for token in tokens { words[Int(token) / 32] |= 1 << UInt32(token % 32) }
        return words
    }

    private func failure(_ result: FinishResult?) -> EngineError? {
        if case .failed(let error) = result { error } else { nil }
    }

    /// A masked request that may be told anything.
    private func submit(
        _ script: Script, _ promptTokens: Int = 3, max: Int = 4, _ change: (inout EngineRequest) -> Void = { _ in }
    ) throws -> UInt32 {
        let tag = try script.submit(promptTokens, max: max) {
            $0.masked = true
            change(&$0)
        }
        script.boundTags.insert(tag)
        return tag
    }

    private func ids(_ script: Script, _ tag: UInt32) -> [Int32] { script.tokens(tag).map(\.token) }

    @Test("The prompt runs while the first mask is awaited, and each late mask is drawn without another step")
    func late() throws {
        let script = try Script()
        let tag = try submit(script, 600, max: 2)
        try script.runAll()
        #expect(script.runner.steps.count == 3 && script.tokens(tag).isEmpty)
        try script.engine.mask(tag: tag, position: 0, rows: 1, words: mask(40))
        try script.turn()
        #expect(ids(script, tag) == [40])
        try script.runAll()
        #expect(script.runner.steps.count == 4 && script.result(tag) == nil)
        try script.engine.mask(tag: tag, position: 1, rows: 1, words: mask(7, 8))
        #expect(try script.turn() == .turn(waitUs: 0))
        #expect(script.runner.steps.count == 4 && [[40, 7], [40, 8]].contains(ids(script, tag)))
        #expect(script.result(tag) == .length)
        script.checkAllFinished()
    }

    @Test("A mask that comes while the step runs is drawn in that step")
    func intime() throws {
        let script = try Script()
        let tag = try submit(script, max: 20)
        var position = 0
        script.runner.beforeStep = { [engine = script.engine] _ in
            try engine.mask(tag: tag, position: position, rows: 1, words: self.mask(Int32(position)))
            position += 1
        }
        try script.runAll()
        #expect(ids(script, tag) == Array(0..<20) && script.runner.steps.count == 20)
        #expect(script.runner.draws.count == 20)
        script.checkAllFinished()
    }

    @Test("Two masked requests that are told late leave two free ones their pace, and give what they give alone")
    func neighbours() throws {
        func run(_ late: Bool, free: Bool) throws -> [[SampledToken]] {
            let script = try Script()
            let masked = try (0..<2).map { _ in
                try submit(script, max: 8) {
                    $0.sampling.temperature = 1
                    $0.sampling.repetitionPenalty = 1.2
                }
            }
            let others = try free ? (0..<2).map { _ in try script.submit(3, max: 30) } : []
            for turn in 0..<100 {
                if !late || turn % 5 == 4 {
                    for tag in masked where script.result(tag) == nil {
                        let position = script.tokens(tag).count
                        let words = mask(Int32(position), Int32(position) + 50, 99)
                        try script.engine.mask(tag: tag, position: position, rows: 1, words: words)
                    }
                }
                try script.turn()
                // A token a step, from the first on, whatever the others wait for.
                for tag in others { #expect(script.tokens(tag).count == min(turn + 1, 30)) }
            }
            script.checkAllFinished()
            return masked.map { script.tokens($0) }
        }
        let alone = try run(false, free: false)
        #expect(alone.allSatisfy { $0.count == 8 })
        #expect(try run(true, free: true) == alone)
        #expect(try run(false, free: true) == alone)
    }

    @Test("Free positions give what an unmasked request gives, told one by one or at once", arguments: [1, 3, 1 << 30])
    func free(rows: Int) throws {
        let script = try Script()
        let tag = try script.submit(5, max: 12) {
            $0.masked = true
            $0.sampling.logprobsTop = 2
        }
        while script.result(tag) == nil {
            try script.engine.allow(tag: tag, position: script.tokens(tag).count, rows: rows)
            try script.runAll()
        }
        script.checkAllFinished()
    }

    @Test("Forced tokens cost no logits, unless their probabilities are asked for", arguments: [nil, 3] as [Int?])
    func forced(logprobsTop: Int?) throws {
        let script = try Script()
        let tag = try submit(script, max: 5) { $0.sampling.logprobsTop = logprobsTop }
        try script.engine.force(tag: tag, position: 0, tokens: [9, 8, 7, 6, 5])
        try script.runAll()
        #expect(ids(script, tag) == [9, 8, 7, 6, 5] && script.result(tag) == .length)
        #expect(script.runner.steps.joined().allSatisfy { $0.sample == nil && $0.holds == (logprobsTop != nil) })
        #expect(script.tokens(tag).allSatisfy { $0.top.count == logprobsTop ?? 0 })
        #expect(script.usage(tag)?.completionTokens == 5)
        script.checkAllFinished()
    }

    @Test("A drawn end token gives way while told so; a forced one ends", arguments: [nil, 1] as [Int?])
    func replacedEnd(logprobsTop: Int?) throws {
        let script = try Script()
        let tag = try submit(script, max: 50) {
            $0.endTokens = [FakeModel.alone($0, contextTokens: 99).tokens[0].token, 41]
            $0.sampling.logprobsTop = logprobsTop
        }
        try script.engine.replaceEnd(tag: tag, with: [40, 41])
        try script.engine.allow(tag: tag, position: 0, rows: 1)
        try script.runAll()
        // The second one is itself an end token of this request, and forced ones end.
        #expect(ids(script, tag) == [40, 41] && script.result(tag) == .stop)

        let other = try submit(script, max: 50) {
            $0.endTokens = [3, 4]
            $0.sampling.logprobsTop = logprobsTop
        }
        try script.engine.replaceEnd(tag: other, with: [40, 41])
        try script.engine.mask(tag: other, position: 0, rows: 1, words: mask(3))
        try script.engine.mask(tag: other, position: 1, rows: 1, words: mask(4))
        try script.engine.mask(tag: other, position: 2, rows: 1, words: mask(50))
        try script.runAll()
        #expect(ids(script, other) == [40, 41, 50])
        try script.engine.mask(tag: other, position: 3, rows: 1, words: mask(4))
        try script.runAll()
        #expect(Array(ids(script, other).prefix(5)) == [40, 41, 50, 40, 41])
        try script.engine.replaceEnd(tag: other, with: [])
        try script.engine.force(tag: other, position: 5, tokens: [3])
        try script.runAll()
        #expect(ids(script, other) == [40, 41, 50, 40, 41, 3] && script.result(other) == .stop)
        script.checkAllFinished()
    }

    @Test("A mask that allows nothing, bits past the vocabulary aside, fails its request alone and lets the queue go on")
    func emptyMask() throws {
        var config = EngineConfig()
        config.maxRequests = 1
        let script = try Script(config)
        let tag = try submit(script)
        let queued = try script.submit(3)
        var past = mask()
        past[3] = ~0 << 4
        try script.engine.mask(tag: tag, position: 0, rows: 2, words: mask(5) + past)
        try script.runAll()
        #expect(ids(script, tag) == [5])
        let error = try #require(failure(script.result(tag)))
        #expect(error.code == .argument && error.message.contains("mask of position 1"))
        #expect(script.result(queued) == .length)
        script.checkAllFinished()
    }

    @Test("A request that waits for its mask ends by cancel, deadline, unload and close, and leaves nothing")
    func endsWhileWaiting() throws {
        let script = try Script()
        let cancelled = try submit(script)
        let overdue = try submit(script) { $0.deadlineMs = 5 }
        try script.runAll()
        script.engine.cancel(tag: cancelled)
        script.clock.advance(us: 6000)
        try script.runAll()
        for tag in [cancelled, overdue] {
            guard case .cancelled = script.result(tag) else {
                Issue.record("request \(tag) ended with \(String(describing: script.result(tag)))")
                continue
            }
            // Whoever computes the mask may not have heard yet.
            try script.engine.mask(tag: tag, position: 0, rows: 1, words: mask(1))
            try script.engine.replaceEnd(tag: tag, with: [1])
        }
        script.checkAllFinished()
        let unloaded = try submit(script)
        try script.runAll()
        try script.engine.unloadModel(script.model)
        try script.runAll()
        guard case .cancelled = script.result(unloaded) else {
            Issue.record("not ended with its model")
            return
        }
    }

    @Test("A reader that is far behind parks a masked request like any other")
    func slowReader() throws {
        let script = try Script(eventsPerRequestMax: 3)
        script.reads = false
        let tag = try submit(script, max: 10)
        try script.engine.force(tag: tag, position: 0, tokens: Array(0..<10))
        try script.runAll()
        #expect(script.loop.scheduler.running.count == 1)
        script.reads = true
        try script.runAll()
        #expect(ids(script, tag) == Array(0..<10))
        script.checkAllFinished()
    }

    @Test("A draw that fails ends its requests, those of the step go on")
    func failingDraw() throws {
        let script = try Script()
        let other = try script.submit(3, max: 6)
        let tag = try submit(script)
        script.runner.beforeDraw = { _ in throw Boom() }
        try script.engine.mask(tag: tag, position: 0, rows: 1, words: mask(1))
        try script.runAll()
        #expect(failure(script.result(tag))?.message.contains("drawing") == true)
        #expect(script.result(other) == .length)
        script.checkAllFinished()
    }
}
