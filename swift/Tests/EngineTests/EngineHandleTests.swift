/// The engine on its real thread, with callers on others.

import Testing

@testable import Engine

@Suite("EngineHandle on its thread")
struct EngineHandleTests {
    /// What one pump saw, checked as it came.
    private struct Seen: Sendable {
        var tokens: [UInt32: [SampledToken]] = [:]
        var finished: [UInt32: FinishResult] = [:]
        var faults: [String] = []
        var readyCount = 0

        mutating func take(_ event: EngineEvent) {
            if let tag = event.requestTag, finished[tag] != nil { faults.append("after FINISH: \(event)") }
            switch event {
            case .token(let tag, let index, let token):
                if index != tokens[tag, default: []].count { faults.append("out of order: \(event)") }
                tokens[tag, default: []].append(token)
            case .finish(let tag, let result, _): finished[tag] = result
            case .modelReady: readyCount += 1
            default: break
            }
        }
    }

    /// Reads events until `done` holds; fails after a minute without an event.
    private func pump(_ engine: EngineHandle, _ seen: inout Seen, until done: (Seen) -> Bool) throws {
        while !done(seen) {
            let batch = try engine.wait(maxEvents: 64, maxBytes: 1 << 16, timeoutMs: 60_000)
            try #require(!batch.events.isEmpty, "no event for a minute")
            for event in batch.events { seen.take(event) }
        }
    }

    private func makeRequest(_ tag: UInt32, _ model: UInt32) -> EngineRequest {
        let length = 5 + Int(tag) % 40
        let prompt = (0..<length).map { i in Int32((i * 3 + Int(tag)) % 100) }
        var request = EngineRequest(tag: tag, model: model, prompt: prompt, maxTokens: 60)
        request.client = tag % 5
        request.sampling.temperature = 1
        request.sampling.seed = UInt64(tag)
        return request
    }

    /// Submits eight tags from `first` on and cancels the even ones.
    private func submitAndCancel(
        _ engine: EngineHandle, _ model: UInt32, _ first: UInt32, _ refused: Monitor<[String]>
    ) {
        for tag in first..<(first + 8) {
            do throws(EngineError) {
                try engine.submit(makeRequest(tag, model))
            } catch {
                let message = error.message
                refused.withLock { $0.append(message) }
            }
            if tag % 2 == 0 {
                engine.cancel(tag: tag)
                engine.cancel(tag: tag)
            }
            _ = engine.stats()
        }
    }

    @Test("64 requests from eight threads, half of them cancelled: each FINISH comes once, all tokens as alone")
    func manyThreads() throws {
        var config = EngineConfig()
        config.maxRequests = 8
        config.prefillChunkTokens = 8
        config.maxStepTokens = 24
        let runner = FakeRunner()
        runner.recordsSteps = false
        let engine = try EngineHandle(config: config, loader: FakeLoader(["model": runner]))
        var seen = Seen()
        let model = try engine.loadModel(path: "model", options: ModelOptions())
        try pump(engine, &seen) { $0.readyCount == 1 }

        let refused = Monitor<[String]>([])
        var threads: [EngineThread] = []
        for first in stride(from: UInt32(1), to: 65, by: 8) {
            let thread = try EngineThread { submitAndCancel(engine, model, first, refused) }
            threads.append(thread)
        }
        try pump(engine, &seen) { $0.finished.count == 64 }
        for thread in threads { thread.join() }
        #expect(refused.withLock { $0 } == [])
        for tag in UInt32(1)...64 {
            let alone = FakeModel.alone(makeRequest(tag, model), contextTokens: 4096)
            let tokens = seen.tokens[tag] ?? []
            if case .cancelled = seen.finished[tag] {
                #expect(tag % 2 == 0 && alone.tokens.starts(with: tokens))
            } else {
                #expect(seen.finished[tag] == alone.result && tokens == alone.tokens)
            }
        }
        let statistics = engine.stats()
        #expect(statistics.submitted == 64 && statistics.completed + statistics.cancelled == 64)
        #expect(statistics.completed >= 32 && statistics.running == 0 && statistics.waiting == 0)
        engine.close()
        #expect(seen.faults == [] && runner.faults == [])
        #expect(runner.openedCount == runner.closedCount && runner.openRows.isEmpty)
    }

    @Test("Who has read a FINISH may use its tag again at once and finds the counters final")
    func tagReuse() throws {
        let runner = FakeRunner()
        runner.recordsSteps = false
        let engine = try EngineHandle(config: EngineConfig(), loader: FakeLoader(["model": runner]))
        var ready = Seen()
        let model = try engine.loadModel(path: "model", options: ModelOptions())
        try pump(engine, &ready) { $0.readyCount == 1 }
        for round in 1...500 {
            var seen = Seen()
            var request = makeRequest(1, model)
            request.maxTokens = 2
            try engine.submit(request)
            try pump(engine, &seen) { $0.finished.count == 1 }
            #expect(engine.stats().completed == round && engine.stats().running == 0)
        }
        engine.close()
    }

    @Test("A close from two threads at once finishes what runs, and the reader sees every FINISH")
    func closing() throws {
        let runner = FakeRunner()
        runner.recordsSteps = false
        let engine = try EngineHandle(config: EngineConfig(), loader: FakeLoader(["model": runner]))
        var seen = Seen()
        let model = try engine.loadModel(path: "model", options: ModelOptions())
        try pump(engine, &seen) { $0.readyCount == 1 }
        for tag in UInt32(1)...20 {
            var request = makeRequest(tag, model)
            request.maxTokens = 4000
            request.endTokens = []
            try engine.submit(request)
        }
        try pump(engine, &seen) { !$0.tokens.isEmpty }
        let threads = try (0..<2).map { _ in try EngineThread { engine.close() } }
        for thread in threads { thread.join() }
        while let batch = try? engine.wait(maxEvents: 1000, maxBytes: 1 << 16, timeoutMs: 60_000) {
            for event in batch.events { seen.take(event) }
        }
        #expect(seen.finished.count == 20 && seen.faults == [])
        #expect(runner.openRows.isEmpty)
        #expect(throws: EngineError.self) { try engine.submit(makeRequest(99, model)) }
        #expect(throws: EngineError.self) { try engine.loadModel(path: "model", options: ModelOptions()) }
    }

    @Test("A submit and a cancel take no lock that a step or a load holds")
    func fastDuringStep() throws {
        let inStep = Monitor(false)
        let mayLeave = Monitor(false)
        let runner = FakeRunner()
        runner.beforeStep = { _ in
            inStep.change { $0 = true }
            _ = mayLeave.wait(timeoutUs: nil) { $0 ? true : nil }
        }
        let inLoad = Monitor(false)
        let loader = FakeLoader(
            ["model": runner, "other": FakeRunner()],
            duringLoad: { path in
                if path == "model" { return }
                inLoad.change { $0 = true }
                _ = mayLeave.wait(timeoutUs: nil) { $0 ? true : nil }
            })
        let engine = try EngineHandle(config: EngineConfig(), loader: loader)
        var seen = Seen()
        let model = try engine.loadModel(path: "model", options: ModelOptions())
        try pump(engine, &seen) { $0.readyCount == 1 }
        try engine.submit(makeRequest(1, model))
        _ = inStep.wait(timeoutUs: nil) { $0 ? true : nil }
        // The engine thread is inside a step and stays there: each of these would hang if it shared a lock.
        try engine.submit(makeRequest(2, model))
        engine.cancel(tag: 2)
        #expect(engine.stats().waiting == 2)
        #expect(try engine.modelInfo(model).modelType == "fake")
        engine.wake()
        #expect(try engine.wait(maxEvents: 9, maxBytes: 4096, timeoutMs: 0).events.isEmpty)
        let other = try engine.loadModel(path: "other", options: ModelOptions())
        mayLeave.change { $0 = true }
        try pump(engine, &seen) { $0.finished.count == 2 }

        mayLeave.change { $0 = false }
        let third = try engine.loadModel(path: "other", options: ModelOptions())
        _ = inLoad.wait(timeoutUs: nil) { $0 ? true : nil }
        try engine.submit(makeRequest(3, model))
        engine.cancel(tag: 3)
        #expect(other != third)
        mayLeave.change { $0 = true }
        try pump(engine, &seen) { $0.finished.count == 3 }
        engine.close()
        #expect(seen.faults == [] && runner.faults == [])
    }

    @Test("A slow reader parks the engine thread, and reading lets it go on")
    func relief() throws {
        let runner = FakeRunner()
        runner.recordsSteps = false
        let engine = try EngineHandle(config: EngineConfig(), loader: FakeLoader(["model": runner]))
        var seen = Seen()
        let model = try engine.loadModel(path: "model", options: ModelOptions())
        try pump(engine, &seen) { $0.readyCount == 1 }
        var request = makeRequest(1, model)
        request.maxTokens = 3 * Limits.eventsPerRequestMax
        try engine.submit(request)
        // One event a wait: the engine runs ahead, parks at its share, and is let go again and again.
        while seen.finished.isEmpty {
            let batch = try engine.wait(maxEvents: 1, maxBytes: 4096, timeoutMs: 60_000)
            try #require(batch.pendingCount <= Limits.eventsPerRequestMax + 2)
            try #require(!batch.events.isEmpty, "no event for a minute")
            for event in batch.events { seen.take(event) }
        }
        #expect(seen.tokens[1] == FakeModel.alone(request, contextTokens: 4096).tokens)
    }

    @Test("An engine that nobody closes ends with its last reference")
    func dropped() throws {
        let runner = FakeRunner()
        weak var handle: EngineHandle?
        do {
            let engine = try EngineHandle(config: EngineConfig(), loader: FakeLoader(["model": runner]))
            handle = engine
            _ = try engine.loadModel(path: "model", options: ModelOptions())
        }
        #expect(handle == nil)
    }

    @Test("A config whose numbers do not go together opens no engine")
    func badConfig() {
        var config = EngineConfig()
        config.maxStepTokens = 10
        #expect(throws: EngineError.self) { try EngineHandle(config: config, loader: FakeLoader([:])) }
    }
}
