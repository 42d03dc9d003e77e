/// Measures at load what this device and these kernels keep of the exactness contract (docs/design/0004).
///
/// Runs what a step runs, on the loaded weights: a decoder block of each kind with its cache, over rows in one call, in
/// calls cut elsewhere and beside another sequence; then the last norm with the head. Rows must be equal bit for bit.

import Engine
import Kernels
import Layers
import MLX
import Models

/// One measurement on a loaded model.
struct ExactnessProbe {
    /// Rows of the largest call, and of the window of decoding and drafts.
    private static let fullRows = 512
    private static let windowRows = 16
    /// Rows before the window: one softmax block of the CPU's kernels, and some.
    private static let windowStart = 135
    /// Rows of the head, which only ever sees the last one of each sequence.
    private static let headCounts = [1, 3, 8, 16, 33]

    private let graph: any ModelGraph
    private let activations: DType
    private let cacheType: DType

    /// - Parameter graph: Prepared, with parameters from `source`.
    init(_ graph: any ModelGraph, _ source: CheckpointSource) {
        self.graph = graph
        activations = source.activations
        cacheType = source.cacheType.mlx
    }

    /// What holds, the weakest of all kinds of work.
    /// - Throws: When MLX fails, or a kernel can't be made.
    func run() throws -> Exactness {
        try withError { error in
            var found = head()
            for block in graph.distinctBlocks where found > .none { found = min(found, try holds(block)) }
            try error.check()
            return found
        }
    }

    /// Rows of the head in one call against fewer.
    private func head() -> Exactness {
        let most = ExactnessProbe.headCounts.max() ?? 1
        let x = noise(most)
        let whole = graph.logits(x)
        func agree(_ count: Int) -> Bool { same(whole[(most - count)...], graph.logits(x[(most - count)...])) }
        return ExactnessProbe.headCounts.allSatisfy(agree) ? .full : .none
    }

    private func holds(_ block: DecoderBlock) throws -> Exactness {
        let (start, rows) = (ExactnessProbe.windowStart, ExactnessProbe.windowStart + ExactnessProbe.windowRows)
        let x = noise(ExactnessProbe.fullRows)
        let window = try run(block, x, [0, start, rows])
        for borders in [[0] + (start...rows), [0, start, start + 5, start + 8, start + 15, rows]] {
            guard same(window, try run(block, x, borders)) else { return .none }
        }
        guard try agreeTogether(block, x) else { return .none }
        // Prefill in pieces of every kind against one call, and both against the window above.
        let whole = try run(block, x, [0, ExactnessProbe.fullRows])
        let pieces = try run(block, x, [0, 1, 38, 101, 102, 118, 320, 495, ExactnessProbe.fullRows])
        return same(whole, pieces) && same(whole[..<rows], window) ? .full : .window
    }

    /// Two sequences in one call against each alone.
    private func agreeTogether(_ block: DecoderBlock, _ x: MLXArray) throws -> Bool {
        let counts = [5, 11]
        let caches = counts.map { KeyValueCache(capacity: $0, dtype: cacheType) }
        let ends = [0, counts[0], counts[0] + counts[1]]
        let spans = counts.indices.map { RowSpan(range: ends[$0]..<ends[$0 + 1], caches: [caches[$0]]) }
        let positions = counts.flatMap { (0..<$0).map { Int32($0) } }
        let together = try block(
            x[..<ends[2]], StepRows(tokens: .mlxNone, positions: MLXArray(positions), spans: spans), layer: 0)
        eval(caches.flatMap(\.state) + [together])
        let first = try run(block, x, [0, ends[1]])
        let second = try run(block, x[ends[1]...], [0, counts[1]])
        return same(together, concatenated([first, second], axis: 0))
    }

    /// One sequence's rows in calls that end at `borders`.
    /// - Returns: [last border, C]
    private func run(_ block: DecoderBlock, _ x: MLXArray, _ borders: [Int]) throws -> MLXArray {
        let cache = KeyValueCache(capacity: borders.last ?? 0, dtype: cacheType)
        let parts = try zip(borders, borders.dropFirst()).map { start, end in
            let positions = MLXArray((start..<end).map { Int32($0) })
            let span = RowSpan(range: 0..<end - start, caches: [cache])
            let part = try block(
                x[start..<end], StepRows(tokens: .mlxNone, positions: positions, spans: [span]), layer: 0)
            eval(cache.state + [part])
            return part
        }
        return concatenated(parts, axis: 0)
    }

    /// Values in [-1, 1), always the same. From a generator of our own: MLX's takes longer than the blocks that are
    /// measured. Source: splitmix64, public domain.
    /// - Returns: [rows, C]
    private func noise(_ rows: Int) -> MLXArray {
        let width = graph.facts.attention.width
        var state = UInt64(rows)
        let values = [Float](unsafeUninitializedCapacity: rows * width) { buffer, used in
            for index in 0..<rows * width {
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
                buffer[index] = Float(Int32(truncatingIfNeeded: (mixed ^ (mixed >> 31)) >> 32)) * 0x1p-31
            }
            used = rows * width
        }
        return MLXArray(values, [rows, width]).asType(activations)
    }

    /// Whether all bits are the same; a NaN is a difference.
    private func same(_ left: MLXArray, _ right: MLXArray) -> Bool {
        arrayEqual(left, right).item(Bool.self)
    }
}
