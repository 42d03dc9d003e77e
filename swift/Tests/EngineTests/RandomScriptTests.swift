/// A seeded random day: hundreds of requests of every kind against two models, with cancels, deadlines, slow readers,
/// failing segments and steps. Every turn is checked by `Script`; the seed is in every message.

import Testing

@testable import Engine

/// SplitMix64: a small generator with a seed (Steele, Lea and Flood, 2014).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("Random scripts")
struct RandomScriptTests {
    private struct Boom: Error {}

    private func makeScript(_ random: inout SeededRandom) throws -> Script {
        var config = EngineConfig()
        config.maxRequests = Int.random(in: 1...12, using: &random)
        config.maxQueue = Int.random(in: 0...30, using: &random)
        config.prefillChunkTokens = Int.random(in: 1...32, using: &random)
        config.maxStepTokens =
            config.maxRequests + config.prefillChunkTokens + Int.random(in: 0...40, using: &random)
        config.memoryBytes = Bool.random(using: &random) ? nil : Int.random(in: 5000...20000, using: &random)
        let script = try Script(
            config,
            runners: [
                "a": FakeRunner(.fake(contextTokens: 256)),
                "b": FakeRunner(.fake(contextTokens: 96, weightBytes: 500, kvBytesPerToken: 25)),
            ], eventsMax: 200, eventsPerRequestMax: Int.random(in: 2...60, using: &random))
        for runner in script.runners.values {
            runner.recordsSteps = false
            // Its own generator: the runner's draws must not depend on how often the script draws.
            var failures = SeededRandom(seed: random.next())
            runner.beforeStep = { [clock = script.clock] segments in
                clock.advance(us: 500 + 20 * UInt64(segments.reduce(0) { $0 + $1.tokens.count }))
                if Int.random(in: 0..<200, using: &failures) == 0 { throw Boom() }
            }
            var outcomes = SeededRandom(seed: random.next())
            runner.outcome = { _, outcome in
                Int.random(in: 0..<300, using: &outcomes) == 0 ? .failed(EngineError(.internal, "row")) : outcome
            }
        }
        return script
    }

    private func change(_ request: inout EngineRequest, _ random: inout SeededRandom) {
        request.masked = Int.random(in: 0..<4, using: &random) == 0
        request.client = UInt32.random(in: 0..<4, using: &random)
        request.priority = Int32.random(in: -1...1, using: &random)
        request.endTokens = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            Int32.random(in: 0..<100, using: &random)
        }
        request.ignoreEnd = Int.random(in: 0..<8, using: &random) == 0
        request.sampling.temperature = Bool.random(using: &random) ? 0 : 0.8
        request.sampling.seed = random.next() >> 1
        if Int.random(in: 0..<3, using: &random) == 0 { request.sampling.repetitionPenalty = 1.1 }
        if Int.random(in: 0..<4, using: &random) == 0 {
            request.sampling.logprobsTop = Int.random(in: 0...20, using: &random)
        }
        if Int.random(in: 0..<10, using: &random) == 0 {
            request.deadlineMs = UInt32.random(in: 1...200, using: &random)
        }
    }

    /// Lets masked requests go on, some by a token, some to their end. Free positions change nothing of what they give.
    private func tell(_ script: Script, _ tags: some Sequence<UInt32>, _ random: inout SeededRandom) {
        for tag in tags {
            let position = script.tokens(tag).count
            let rows = Int.random(in: 0..<4, using: &random) == 0 ? 1 << 20 : 1
            do throws(EngineError) {
                try script.engine.allow(tag: tag, position: position, rows: rows)
            } catch {
                #expect(error.code == .argument && error.message.contains("not masked"), "\(error)")
            }
        }
    }

    /// One thing a caller does.
    private func act(_ script: Script, _ tags: inout [UInt32], _ random: inout SeededRandom) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9:
            let path = Bool.random(using: &random) ? "a" : "b"
            let prompt = Int.random(in: 1...120, using: &random)
            let tokens = Int.random(in: 1...60, using: &random)
            do {
                tags.append(try script.submit(prompt, max: tokens, path: path) { change(&$0, &random) })
            } catch let error as EngineError {
                #expect([.busy, .memory, .argument].contains(error.code), "\(error)")
            }
        case 9..<12:
            // Some of these are long finished: that is no error.
            if let tag = tags.randomElement(using: &random) { script.engine.cancel(tag: tag) }
        case 12: script.reads.toggle()
        case 14: try script.read(maxEvents: Int.random(in: 1...20, using: &random))
        case 13: tell(script, tags.suffix(40), &random)
        case 15: script.clock.advance(us: UInt64.random(in: 0...50_000, using: &random))
        default: break
        }
    }

    @Test("Invariants hold and together equals alone", arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func randomDay(_ seed: UInt64) throws {
        // A failed expectation shows the argument; a crash would not.
        print("random script, seed \(seed)")
        var random = SeededRandom(seed: seed)
        let script = try makeScript(&random)
        var tags: [UInt32] = []
        while tags.count < 300 {
            try act(script, &tags, &random)
            if Int.random(in: 0..<3, using: &random) > 0 { try script.turn() }
        }
        script.reads = true
        try script.read()
        try script.runAll()
        // Those in the queue start when masked ones ahead of them have ended.
        while tags.contains(where: { script.result($0) == nil }) {
            tell(script, tags.filter { script.result($0) == nil }, &random)
            try script.runAll()
        }
        script.checkAllFinished()
        let statistics = script.engine.stats()
        #expect(statistics.submitted == 300 && statistics.completed > 50, "seed \(seed)")
        #expect(statistics.cancelled > 5 && statistics.failed > 0, "seed \(seed)")
        let failures = script.events.contains { event in
            if case .log(.error, _) = event { true } else { false }
        }
        #expect(failures, "seed \(seed): no step failed, the script tests less than it says")
    }
}
