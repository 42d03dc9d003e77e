/// The open engines by handle, and the joining of Engine with Runtime: the one place that makes a loader.

import CoreCommands
import Engine

/// The table of engines.
///
/// Invariant: at most `BridgeLimits.enginesMax`, counting those that are closing; a self-test counts as one.
final class Engines: Sendable {
    private struct State: Sendable {
        var table = HandleTable<EngineHandle>(countMax: BridgeLimits.enginesMax)
        var closing = 0
        var testing = false
        var makeLoader: @Sendable () -> any ModelLoader = makeRuntimeLoader
    }

    /// Of this process.
    static let shared = Engines()
    private let state = Monitor(State())

    /// Sets what a server's CPU kernels do by default, so that an estimate before the first engine counts the same keys
    /// and values as that engine. The defaults can be had everywhere.
    private init() { try? configureProcessor(EngineConfig()) }

    /// Starts an engine.
    /// - Throws: `busy` if one is open, `argument` if this machine can't do what the config says.
    func open(_ config: EngineConfig) throws(EngineError) -> UInt32 {
        try state.withLock { (state) throws(EngineError) in
            guard state.table.count + state.closing < BridgeLimits.enginesMax, !state.testing else {
                throw EngineError(.busy, "Cannot open an engine: one is open or closing, which is the limit")
            }
            // Threads and arithmetic of the CPU kernels are the process's, as the engine is.
            try configureProcessor(config)
            let engine = try EngineHandle(config: config, loader: state.makeLoader())
            guard let handle = state.table.insert(engine) else {
                throw EngineError(.busy, "Cannot open an engine: the table is full")
            }
            return handle
        }
    }

    /// The engine of a handle.
    /// - Throws: `handle`.
    func require(_ handle: UInt32) throws(EngineError) -> EngineHandle {
        try state.withLock { (state) throws(EngineError) in try find(handle, state) }
    }

    /// Frees the handle, then finishes all and joins the thread.
    /// - Throws: `handle`.
    func close(_ handle: UInt32) throws(EngineError) {
        let engine = try state.withLock { (state) throws(EngineError) in
            let engine = try find(handle, state)
            state.table[handle] = nil
            state.closing += 1
            return engine
        }
        engine.close()
        state.withLock { $0.closing -= 1 }
    }

    /// Runs `body` with MLX to itself.
    /// - Throws: `busy` if an engine is open.
    func whileNoneIsOpen<Result>(_ body: () throws -> Result) throws -> Result {
        try state.withLock { (state) throws(EngineError) in
            guard state.table.count + state.closing == 0, !state.testing else {
                throw EngineError(.busy, "Cannot run the self-test: an engine is open or another test runs")
            }
            state.testing = true
        }
        defer { state.withLock { $0.testing = false } }
        return try body()
    }

    /// A loader, without an engine: it reads headers and touches no MLX.
    func loader() -> any ModelLoader {
        state.withLock { $0.makeLoader() }
    }

    /// Puts another maker of loaders in the runtime's place, for tests.
    func useLoaders(_ make: @escaping @Sendable () -> any ModelLoader) {
        state.withLock { $0.makeLoader = make }
    }

    private func find(_ handle: UInt32, _ state: State) throws(EngineError) -> EngineHandle {
        guard let engine = state.table[handle] else {
            throw EngineError(.handle, "There is no engine \(handle): the handle is stale or was never given")
        }
        return engine
    }
}
