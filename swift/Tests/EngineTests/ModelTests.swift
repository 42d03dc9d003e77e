/// Load and unload as callers see them: events, handles, refusals.

import Testing

@testable import Engine

@Suite("Models")
struct ModelTests {
    private func code(_ body: () throws -> Void) -> EngineError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? EngineError)?.code
        }
    }

    @Test("A load tells its progress at a bounded rate, then READY")
    func progress() throws {
        let script = try Script()
        let steps = script.events.compactMap { event in
            if case .modelProgress(_, let perMille) = event { perMille } else { nil }
        }
        #expect(steps.first == 0 && steps.last == 1000)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 - $0 >= Limits.progressStepPerMille })
        #expect(script.events.last == .modelReady(model: script.model))
        #expect(try script.engine.modelInfo(script.model).modelType == "fake")
    }

    @Test("A model that is still loading is busy, for info and for submits")
    func stillLoading() throws {
        let script = try Script()
        let handle = try script.engine.loadModel(path: "model", options: ModelOptions())
        #expect(code { _ = try script.engine.modelInfo(handle) } == .busy)
        #expect(code { try script.submit(2) { $0.model = handle } } == .busy)
        try script.turn()
        #expect(code { _ = try script.engine.modelInfo(handle) } == nil)
    }

    @Test("A load that fails says why and frees its handle")
    func failedLoad() throws {
        let script = try Script()
        let handle = try script.engine.loadModel(path: "nowhere", options: ModelOptions())
        try script.turn()
        let error = EngineError(.io, "Cannot read nowhere: not found")
        #expect(script.events.last == .modelFailed(model: handle, error: error))
        #expect(code { _ = try script.engine.modelInfo(handle) } == .handle)
        #expect(code { try script.engine.unloadModel(handle) } == .handle)
        #expect(script.engine.stats().openHandles == 1 && script.loader.trimCount == 1)
    }

    @Test("Weights over what is free are refused before the load, with the numbers")
    func noRoom() throws {
        var config = EngineConfig()
        config.memoryBytes = 1500
        let script = try Script(config, runners: ["model": FakeRunner(), "other": FakeRunner()])
        #expect(script.loader.loadCount == 1)
        guard case .modelFailed(_, let error) = script.events.last else {
            Issue.record("wanted a failed load, found \(String(describing: script.events.last))")
            return
        }
        #expect(error.code == .memory)
        #expect(error.message.contains("1000 bytes") && error.message.contains("leaves 500"))
    }

    @Test("An unload that is asked before the load began cancels it")
    func unloadBeforeLoad() throws {
        let script = try Script()
        let handle = try script.engine.loadModel(path: "model", options: ModelOptions())
        try script.engine.unloadModel(handle)
        try script.turn()
        #expect(script.loader.loadCount == 1)
        #expect(script.events.last == .modelUnloaded(model: handle))
        #expect(script.engine.stats().openHandles == 1)
    }

    @Test("An unload during a load that fails is answered by FAILED alone")
    func unloadDuringFailure() throws {
        let mailbox = Mailbox(config: EngineConfig())
        let queue = EventQueue()
        let loader = FakeLoader([:], duringLoad: { _ in try? mailbox.unload(1 << 16) })
        let loop = EngineLoop(
            config: EngineConfig(), loader: loader, clock: ManualClock(), mailbox: mailbox, events: queue)
        let handle = try mailbox.load(path: "nowhere", options: ModelOptions())
        _ = loop.turn(waitUs: 0)
        _ = loop.turn(waitUs: 0)
        let events = try queue.wait(maxEvents: 99, maxBytes: 4096, timeoutUs: 0).events
        let error = EngineError(.io, "Cannot read nowhere: not found")
        #expect(events == [.modelProgress(model: handle, perMille: 0), .modelFailed(model: handle, error: error)])
        #expect(mailbox.statistics.openHandles == 0)
    }

    @Test("An unload during a load gives READY, then UNLOADED, and no request between")
    func unloadDuringLoad() throws {
        let mailbox = Mailbox(config: EngineConfig())
        let queue = EventQueue()
        let loader = FakeLoader(
            ["model": FakeRunner()],
            duringLoad: { _ in
                let handle: UInt32 = 1 << 16
                #expect(throws: Never.self) { try mailbox.unload(handle) }
            })
        let loop = EngineLoop(
            config: EngineConfig(), loader: loader, clock: ManualClock(), mailbox: mailbox, events: queue)
        let handle = try mailbox.load(path: "model", options: ModelOptions())
        _ = loop.turn(waitUs: 0)
        #expect(throws: EngineError.self) { try mailbox.description(of: handle) }
        _ = loop.turn(waitUs: 0)
        let events = try queue.wait(maxEvents: 999, maxBytes: 4096, timeoutUs: 0).events
        #expect(events.suffix(2) == [.modelReady(model: handle), .modelUnloaded(model: handle)])
        #expect(mailbox.statistics.openHandles == 0 && mailbox.statistics.models == 0)
    }

    @Test("Loads over the table are busy")
    func tooMany() throws {
        let script = try Script()
        for _ in 1..<Limits.modelsMax {
            _ = try script.engine.loadModel(path: "model", options: ModelOptions())
        }
        #expect(
            code { _ = try script.engine.loadModel(path: "model", options: ModelOptions()) } == .busy)
    }

    @Test("A load that the close overtakes ends with FAILED")
    func closeBeforeLoad() throws {
        let script = try Script()
        let handle = try script.engine.loadModel(path: "model", options: ModelOptions())
        script.engine.close()
        #expect(try script.turn() == .end)
        #expect(
            script.events.last
                == .modelFailed(
                    model: handle,
                    error: EngineError(.closed, "The engine was closed before the model was loaded")))
        #expect(script.engine.stats().openHandles == 0)
    }

    @Test("An estimate is the loader's, and its errors cross as they are")
    func estimate() throws {
        let script = try Script()
        let estimate = try script.engine.estimate(path: "model", options: ModelOptions())
        #expect(estimate.weightBytes == 1000 && estimate.kvBytesPerToken == 10)
        #expect(code { _ = try script.engine.estimate(path: "nowhere", options: ModelOptions()) } == .io)
    }
}

@Suite("HandleTable")
struct HandleTableTests {
    @Test("A freed handle is stale, also when its slot is used again")
    func stale() throws {
        var table = HandleTable<String>(countMax: 2)
        let inserted = [table.insert("a"), table.insert("b")]
        let first = try #require(inserted[0])
        let second = try #require(inserted[1])
        let over = table.insert("c")
        #expect(over == nil)
        #expect(first != 0 && second != 0 && first != second)
        table[first] = nil
        table[first] = nil
        #expect(table[first] == nil && table.count == 1)
        let reused = table.insert("c")
        let third = try #require(reused)
        #expect(third != first && table[third] == "c" && table[first] == nil)
        table[first] = "x"
        #expect(table[third] == "c")
        #expect(table.entries.map(\.value).sorted() == ["b", "c"])
        #expect(table[0] == nil && table[.max] == nil)
    }

    @Test("Generations wrap without ever giving handle 0")
    func wrap() throws {
        var table = HandleTable<Int>(countMax: 1)
        var seen: Set<UInt32> = []
        for i in 0..<65_535 {
            let inserted = table.insert(i)
            let handle = try #require(inserted)
            seen.insert(handle)
            table[handle] = nil
        }
        #expect(seen.count == 65_535 && !seen.contains(0))
        let again = table.insert(0)
        #expect(again.map(seen.contains) == true)
    }
}
