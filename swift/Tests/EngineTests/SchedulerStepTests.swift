/// What a step holds: decode rows, prefill chunks, models in turn; and how requests end by themselves.

import Testing

@testable import Engine

@Suite("Scheduler steps")
struct SchedulerStepTests {
    @Test("A request alone gives the tokens of the model, with contiguous events and exact usage")
    func aloneRequest() throws {
        let script = try Script()
        script.runner.beforeStep = { [clock = script.clock] segments in
            clock.advance(us: 100 * UInt64(segments[0].tokens.count))
        }
        let tag = try script.submit(5, max: 3) { $0.sampling.seed = 77 }
        script.clock.advance(us: 40)
        try script.runAll()
        script.checkAllFinished()
        #expect(script.result(tag) == .length)
        let usage = try #require(script.usage(tag))
        #expect(usage.promptTokens == 5 && usage.completionTokens == 3 && usage.cachedTokens == 0)
        #expect(usage.seed == 77)
        #expect(usage.queueUs == 40 && usage.prefillUs == 500 && usage.decodeUs == 200)
        let statistics = script.engine.stats()
        #expect(statistics.steps == 3 && statistics.prefillTokens == 5 && statistics.completionTokens == 3)
        #expect(statistics.stepUs == 700 && statistics.lastStepUs == 100)
        #expect(statistics.activeMemoryBytes == 11 && statistics.peakMemoryBytes == 22)
        #expect(statistics.exactness == .full && statistics.models == 1 && statistics.openHandles == 1)
    }

    @Test("An end token is a TOKEN and then STOP, unless end tokens are ignored")
    func endToken() throws {
        let script = try Script()
        let probe = try script.submit(6, max: 10)
        try script.runAll()
        let third = script.tokens(probe)[2].token
        let prompt = (0..<6).map { Int32(($0 * 7 + Int(probe) * 13) % FakeModel.vocabularySize) }
        let stopping = try script.submit(1, max: 10) {
            $0.prompt = prompt
            $0.endTokens = [third]
        }
        let ignoring = try script.submit(1, max: 10) {
            $0.prompt = prompt
            $0.endTokens = [third]
            $0.ignoreEnd = true
        }
        let last = try script.submit(1, max: 3) {
            $0.prompt = prompt
            $0.endTokens = [third]
        }
        try script.runAll()
        script.checkAllFinished()
        #expect(script.result(stopping) == .stop)
        #expect(script.tokens(stopping).map(\.token).last == third)
        #expect(script.usage(stopping)?.completionTokens == script.tokens(stopping).count)
        #expect(script.result(ignoring) == .length)
        #expect(script.tokens(ignoring).count == 10)
        // The last token allowed is an end token: STOP, not LENGTH.
        #expect(script.result(last) == .stop)
    }

    @Test("A full context ends with LENGTH")
    func fullContext() throws {
        let script = try Script(runners: ["model": FakeRunner(.fake(contextTokens: 16))])
        let tag = try script.submit(12, max: 1000)
        let oneToken = try script.submit(15, max: 1000)
        try script.runAll()
        script.checkAllFinished()
        #expect(script.result(tag) == .length)
        #expect(script.tokens(tag).count == 4)
        #expect(script.tokens(oneToken).count == 1)
    }

    @Test("Decode rows come first and prefill chunks end at multiples of the chunk")
    func mixedStep() throws {
        var config = EngineConfig()
        config.maxRequests = 4
        config.prefillChunkTokens = 8
        config.maxStepTokens = 4 + 8 + 3
        let script = try Script(config)
        let short = try script.submit(3, max: 20)
        try script.turn()
        let long = try script.submit(21, max: 2)
        let small = try script.submit(5, max: 2)
        try script.turn()
        // One decode row, a whole chunk of the long prompt; the small prompt fits beside them.
        let step = try #require(script.runner.steps.last)
        #expect(step.map(\.tokens.count) == [1, 8, 5])
        #expect(step[1].sample == nil && step[2].sample != nil)
        try script.runAll()
        script.checkAllFinished()
        let positions = script.runner.steps.flatMap { $0 }.filter { $0.sequence == step[1].sequence }.map(\.position)
        #expect(positions == [0, 8, 16, 21])
        let done = script.events.compactMap { event in
            if case .prefill(long, let done) = event { done } else { nil }
        }
        #expect(done == [8, 16, 21])
        #expect(script.runner.steps.allSatisfy { $0.reduce(0) { $0 + $1.tokens.count } <= config.maxStepTokens })
        #expect(script.result(short) == .length && script.result(small) == .length)
    }

    @Test("A chunk that does not fit leaves its rows to a smaller one")
    func smallerChunk() throws {
        var config = EngineConfig()
        config.maxRequests = 4
        config.prefillChunkTokens = 8
        config.maxStepTokens = 12
        let script = try Script(config)
        for length in [20, 20, 3] { try script.submit(length) }
        try script.turn()
        #expect(script.runner.steps.last?.map(\.tokens.count) == [8, 3])
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("Chunk borders are at multiples of the chunk, wherever a prompt goes on from")
    func absoluteBorders() throws {
        let request = EngineRequest(tag: 1, model: 1, prompt: Array(repeating: 1, count: 20), maxTokens: 1)
        let state = RequestState(
            AcceptedRequest(request: request, submittedUs: 0, capacityTokens: 21, priceBytes: 0))
        #expect(state.nextRowCount(chunkTokens: 8) == 0)
        state.start(SequenceID(1))
        #expect(state.nextRowCount(chunkTokens: 8) == 8)
        #expect(state.advance(rows: 5) == 5)
        #expect(state.nextRowCount(chunkTokens: 8) == 3)
        #expect(state.advance(rows: 11) == 16)
        #expect(state.nextRowCount(chunkTokens: 8) == 4)
    }

    @Test("A long prompt does not hold up a running stream: every step until its end has the stream's row")
    func noStall() throws {
        var config = EngineConfig()
        config.prefillChunkTokens = 16
        let script = try Script(config)
        try script.submit(2, max: 100)
        try script.turn()
        try script.submit(1000, max: 1)
        let before = script.runner.steps.count
        for _ in 0..<(1000 / 16 + 1) { try script.turn() }
        for step in script.runner.steps[before...] {
            #expect(step[0].tokens.count == 1)
            #expect(step.count == 2)
        }
        try script.runAll()
        script.checkAllFinished()
    }

    @Test("The history is given only when a penalty reads it")
    func history() throws {
        let script = try Script()
        let plain = try script.submit(4, max: 5)
        let repetition = try script.submit(4, max: 5) { $0.sampling.repetitionPenalty = 1.1 }
        let presence = try script.submit(4, max: 5) { $0.sampling.presencePenalty = 0.5 }
        let frequency = try script.submit(600, max: 5) { $0.sampling.frequencyPenalty = -0.5 }
        try script.runAll()
        script.checkAllFinished()
        for tag in [plain, repetition, presence, frequency] { #expect(script.tokens(tag).count == 5) }
        let starts = script.runner.steps.flatMap { $0 }.compactMap(\.sample?.completionStart)
        #expect(Set(starts) == [0, 4, 600])
    }

    @Test("The history grows in place: no step copies it")
    func historyInPlace() throws {
        let script = try Script()
        script.runner.recordsSteps = false
        var addresses: Set<UnsafeRawPointer> = []
        script.runner.beforeStep = { segments in
            segments[0].sample?.history.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress { addresses.insert(start) }
            }
        }
        try script.submit(50, max: 200) { $0.sampling.repetitionPenalty = 1.2 }
        try script.runAll()
        script.checkAllFinished()
        #expect(addresses.count == 1)
    }

    @Test("Logprobs and their alternatives reach the events")
    func logprobs() throws {
        let script = try Script()
        let tag = try script.submit(4, max: 2) { $0.sampling.logprobsTop = 3 }
        try script.runAll()
        script.checkAllFinished()
        #expect(script.tokens(tag).allSatisfy { $0.logprob == -1 && $0.top.count == 3 })
    }

    @Test("Models with work take turns, a step each")
    func modelTurns() throws {
        let script = try Script(runners: ["a": FakeRunner(), "b": FakeRunner(.fake(exactness: .window))])
        var order: [String] = []
        script.runners["a"]?.beforeStep = { _ in order.append("a") }
        script.runners["b"]?.beforeStep = { _ in order.append("b") }
        for _ in 0..<3 { try script.submit(2, max: 4, path: "a") }
        try script.submit(2, max: 4, path: "b")
        try script.runAll()
        script.checkAllFinished()
        #expect(order == ["a", "b", "a", "b", "a", "b", "a", "b"])
        // The weakest promise of all is the engine's.
        #expect(script.engine.stats().exactness == .window)
    }

    @Test("Sixteen requests together give each the tokens they give alone")
    func together() throws {
        var config = EngineConfig()
        config.maxRequests = 16
        config.prefillChunkTokens = 8
        config.maxStepTokens = 40
        let script = try Script(config)
        for i in 0..<16 {
            try script.submit(1 + i * 5, max: 12) {
                $0.sampling.temperature = i % 2 == 0 ? 0 : 1
                $0.sampling.seed = UInt64(i)
                $0.endTokens = [3, 4]
                $0.client = UInt32(i % 3)
            }
        }
        try script.runAll()
        script.checkAllFinished()
        #expect(script.engine.stats().completed == 16)
    }
}
