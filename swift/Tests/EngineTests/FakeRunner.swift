/// Runner, loader and clock of the tests. The runner writes down every promise of `StepRunner` that its caller breaks.

@testable import Engine

/// A clock that stands until it is turned.
final class ManualClock: EngineClock {
    private let time = Monitor<UInt64>(1_000_000)

    func nowUs() -> UInt64 { time.withLock { $0 } }

    func advance(us: UInt64) { time.withLock { $0 += us } }
}

/// A model in integers.
///
/// Used on one thread; read by the test after that thread is joined.
final class FakeRunner: StepRunner {
    private struct Cache {
        var state = FakeModel.state([])
        var rows: [Int32] = []
        var capacityTokens: Int
        /// Whether the last step kept logits.
        var holds = false
    }

    let description: ModelDescription
    /// Broken promises, in words; empty is right.
    private(set) var faults: [String] = []
    /// The draws of each call that drew from kept logits.
    private(set) var draws: [[HeldDraw]] = []
    /// Called before each draw; what it throws, the draw throws.
    var beforeDraw: ([HeldDraw]) throws -> Void = { _ in }
    /// The segments of each step.
    private(set) var steps: [[Segment]] = []
    /// Sequences ever opened and ever closed.
    private(set) var openedCount = 0
    private(set) var closedCount = 0
    /// Called before each step; what it throws, the step throws.
    var beforeStep: ([Segment]) throws -> Void = { _ in }
    /// Replaces the outcome of a segment.
    var outcome: (Segment, SegmentOutcome) -> SegmentOutcome = { $1 }
    /// What `open` throws.
    var openError: (any Error)?
    /// Whether `steps` is kept; off where there are too many.
    var recordsSteps = true

    /// Sequences whose `open` failed and that nobody closed since.
    private(set) var halfOpen: Set<SequenceID> = []

    private var caches: [SequenceID: Cache] = [:]

    init(_ description: ModelDescription = .fake()) {
        self.description = description
    }

    /// Rows of every open cache.
    var openRows: [SequenceID: Int] { caches.mapValues(\.rows.count) }

    func open(_ sequence: SequenceID, capacityTokens: Int) throws {
        if let openError {
            halfOpen.insert(sequence)
            throw openError
        }
        if caches[sequence] != nil { faults.append("\(sequence) was opened twice") }
        if capacityTokens > description.contextTokens { faults.append("\(sequence) is over the context") }
        caches[sequence] = Cache(capacityTokens: capacityTokens)
        openedCount += 1
    }

    func close(_ sequence: SequenceID) {
        if halfOpen.remove(sequence) != nil { return }
        guard caches.removeValue(forKey: sequence) != nil else {
            faults.append("\(sequence) was closed without being open")
            return
        }
        closedCount += 1
    }

    func step(_ segments: [Segment]) throws -> [SegmentOutcome] {
        if recordsSteps { steps.append(segments) }
        if segments.isEmpty { faults.append("an empty step") }
        if Set(segments.map(\.sequence)).count != segments.count { faults.append("a sequence twice in a step") }
        try beforeStep(segments)
        return segments.map { outcome($0, run($0)) }
    }

    private func run(_ segment: Segment) -> SegmentOutcome {
        guard var cache = caches[segment.sequence] else {
            faults.append("a segment of \(segment.sequence), which is not open")
            return .failed(EngineError(.internal, "not open"))
        }
        if segment.tokens.isEmpty { faults.append("an empty segment") }
        if segment.position != cache.rows.count {
            faults.append("position \(segment.position) with \(cache.rows.count) rows in the cache")
        }
        cache.rows += segment.tokens
        cache.state = segment.tokens.reduce(cache.state, FakeModel.extend)
        if cache.rows.count > cache.capacityTokens { faults.append("\(segment.sequence) outgrew its capacity") }
        cache.holds = segment.holds
        caches[segment.sequence] = cache
        if segment.holds {
            if segment.sample != nil { faults.append("a segment that holds and draws") }
            return .held
        }
        guard let sample = segment.sample else { return .advanced }
        checkHistory(sample, cache)
        return .sampled(FakeModel.draw(cache.state, position: cache.rows.count, sample))
    }

    private func checkHistory(_ sample: SampleRequest, _ cache: Cache) {
        let wanted = sample.parameters.needsHistory ? cache.rows : []
        if sample.history != wanted {
            faults.append("a history of \(sample.history.count) tokens at \(cache.rows.count) rows")
        }
    }

    func draw(_ draws: [HeldDraw]) throws -> [SegmentOutcome] {
        if recordsSteps { self.draws.append(draws) }
        if draws.isEmpty { faults.append("an empty draw") }
        try beforeDraw(draws)
        return draws.map { draw in
            guard let cache = caches[draw.sequence], cache.holds else {
                faults.append("a draw of \(draw.sequence), which holds no logits")
                return .failed(EngineError(.internal, "nothing held"))
            }
            checkHistory(draw.sample, cache)
            return .sampled(FakeModel.draw(cache.state, position: cache.rows.count, draw.sample, draw.choice))
        }
    }
}

/// Gives runners by path.
///
/// Unchecked: the state is behind the monitor; the runners in it are used on the engine thread,
/// and by the test only when that thread is joined or is the test's own.
final class FakeLoader: ModelLoader, @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var runners: [String: FakeRunner]
        var trimCount = 0
        var loadCount = 0
    }

    private let state: Monitor<State>
    /// Called while a load runs, between its progress calls.
    let duringLoad: @Sendable (String) -> Void

    init(_ runners: [String: FakeRunner], duringLoad: @escaping @Sendable (String) -> Void = { _ in }) {
        state = Monitor(State(runners: runners))
        self.duringLoad = duringLoad
    }

    var trimCount: Int { state.withLock { $0.trimCount } }
    var loadCount: Int { state.withLock { $0.loadCount } }

    func load(path: String, options: ModelOptions, progress: (Int) -> Void) throws -> any StepRunner {
        let runner = state.withLock { state in
            state.loadCount += 1
            return state.runners[path]
        }
        if runner != nil { for perMille in 0...500 { progress(perMille) } }
        duringLoad(path)
        guard let runner else { throw EngineError(.io, "Cannot read \(path): not found") }
        for perMille in 501...1000 { progress(perMille) }
        return runner
    }

    func estimate(path: String, options: ModelOptions) throws -> (weightBytes: Int, kvBytesPerToken: Int) {
        guard let runner = state.withLock({ $0.runners[path] }) else {
            throw EngineError(.io, "Cannot read \(path): not found")
        }
        return (runner.description.weightBytes, runner.description.kvBytesPerToken)
    }

    func memory() -> (activeBytes: Int, peakBytes: Int, cacheBytes: Int) { (11, 22, 33) }

    func trimMemory() { state.withLock { $0.trimCount += 1 } }
}
