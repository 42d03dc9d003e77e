/// Measures at load what this device and these kernels keep of the exactness contract (docs/design/0004).
///
/// Each kind of work that a step does over rows runs at several row counts on the loaded weights, and the rows must be
/// equal bit for bit: products with every kind of matrix, the norm, the rotation, attention with its cache cut
/// anywhere. Knows kernels only by what they return.

import Engine
import Layers
import MLX
import Models

/// One measurement on a loaded model.
struct ExactnessProbe {
    /// Rows of the largest call, and of the window of decoding and drafts.
    private static let fullRows = 512
    private static let windowRows = 16
    /// The head is the largest matrix and sees few rows at once: one more than two tiles of rows shows all its loops.
    private static let headRows = 33
    /// Row counts that kernels like to treat apart: vectors, small blocks, odd rests, tiles.
    private static let counts = [1, 2, 3, 5, 8, 16, 17, 31, 64, 200]
    /// Of the head: each costs as much as all those of another matrix.
    private static let headCounts = [1, 3, 8, 16]

    private let matrices: [Matrix]
    private let facts: GraphFacts
    private let activations: DType
    private let cacheType: DType

    /// - Parameter source: With filled parameters.
    init(_ source: CheckpointSource, _ facts: GraphFacts) {
        matrices = ExactnessProbe.kinds(source.matrices)
        self.facts = facts
        activations = source.activations
        cacheType = source.cacheType.mlx
    }

    /// What holds, the weakest of all kinds of work.
    /// - Throws: When MLX fails.
    func run() throws -> Exactness {
        try withError { error in
            var found = attention()
            for matrix in matrices where found > .none {
                let isHead = matrix.shape.rows == facts.vocabularySize
                found = min(
                    found,
                    rowWise(
                        width: [matrix.shape.columns],
                        limit: isHead ? ExactnessProbe.headRows : ExactnessProbe.fullRows,
                        counts: isHead ? ExactnessProbe.headCounts : ExactnessProbe.counts, matrix.product))
            }
            let shape = facts.attention
            let weight = MLXArray.ones([shape.width], dtype: activations)
            found = min(found, rowWise(width: [shape.width]) { MLXFast.rmsNorm($0, weight: weight, eps: 1e-5) })
            let positions = MLXArray((0..<ExactnessProbe.fullRows).map { Int32($0 * 5) })
            found = min(
                found,
                rowWise(width: [shape.heads, 1, shape.headDimension]) { x in
                    MLXFast.RoPE(
                        x, dimensions: shape.headDimension, traditional: false, base: 10_000, scale: 1,
                        offset: positions[(ExactnessProbe.fullRows - x.dim(0))...])
                })
            try error.check()
            return found
        }
    }

    /// One matrix of each size and storage.
    private static func kinds(_ matrices: [Matrix]) -> [Matrix] {
        struct Kind: Hashable {
            let rows: Int
            let columns: Int
            let quantization: Quantization?
        }
        var seen: Set<Kind> = []
        return matrices.filter { matrix in
            let shape = matrix.shape
            return seen.insert(Kind(rows: shape.rows, columns: shape.columns, quantization: matrix.quantization))
                .inserted
        }
    }

    /// - Parameters:
    ///   - width: Shape of a row.
    ///   - limit: Rows of the call that all others are compared with.
    ///   - counts: Rows of the others.
    ///   - work: [R, ...] to [R, ...], each row by itself.
    private func rowWise(
        width: [Int], limit: Int = fullRows, counts: [Int] = counts, _ work: (MLXArray) -> MLXArray
    ) -> Exactness {
        let x = noise([limit] + width)
        func agree(upTo most: Int) -> Bool {
            let whole = work(x[(limit - most)...])
            return counts.filter { $0 < most }.allSatisfy { count in
                same(whole[(most - count)...], work(x[(limit - count)...]))
            }
        }
        if agree(upTo: limit) { return .full }
        return agree(upTo: ExactnessProbe.windowRows) ? .window : .none
    }

    /// Rows of a prompt attended to in one call, against the same rows in calls cut elsewhere.
    private func attention() -> Exactness {
        let shape = facts.attention
        let rows = ExactnessProbe.fullRows
        let queries = noise([1, shape.heads, rows, shape.headDimension])
        // Room behind the rows in use, as a cache has.
        let keys = noise([1, shape.kvHeads, rows + 64, shape.headDimension]).asType(cacheType)
        let values = noise([1, shape.kvHeads, rows + 64, shape.headDimension]).asType(cacheType)
        func attend(_ range: Range<Int>) -> MLXArray {
            MLXFast.scaledDotProductAttention(
                queries: queries[0..., 0..., range, 0...], keys: keys[0..., 0..., ..<range.upperBound, 0...],
                values: values[0..., 0..., ..<range.upperBound, 0...],
                scale: 1 / Float(shape.headDimension).squareRoot(), mask: range.count == 1 ? .none : .causal)
        }
        func agree(whole range: Range<Int>, cuts: [Int]) -> Bool {
            let reference = attend(range)
            return zip([range.lowerBound] + cuts, cuts + [range.upperBound]).allSatisfy { start, end in
                let place = (start - range.lowerBound)..<(end - range.lowerBound)
                return same(reference[0..., 0..., place, 0...], attend(start..<end))
            }
        }
        let window = (rows - ExactnessProbe.windowRows)..<rows
        guard agree(whole: window, cuts: Array(window.dropFirst())),
            agree(whole: window, cuts: [rows - 11, rows - 8, rows - 1])
        else { return .none }
        // Prefill in pieces of every kind, then the window that holds above, all against one call.
        return agree(whole: 0..<rows, cuts: [1, 38, 101, 102, 118, 320, rows - 16]) ? .full : .window
    }

    /// Values in [-1, 1), the same for the same shape. From a generator of our own: MLX's takes longer than the
    /// products that are measured. Source: splitmix64, public domain.
    private func noise(_ shape: [Int]) -> MLXArray {
        let count = shape.reduce(1, *)
        var state = UInt64(count)
        let values = [Float](unsafeUninitializedCapacity: count) { buffer, used in
            for index in 0..<count {
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
                buffer[index] = Float(Int32(truncatingIfNeeded: (mixed ^ (mixed >> 31)) >> 32)) * 0x1p-31
            }
            used = count
        }
        return MLXArray(values, shape).asType(activations)
    }

    /// Whether all bits are the same; a NaN is a difference.
    private func same(_ left: MLXArray, _ right: MLXArray) -> Bool {
        arrayEqual(left, right).item(Bool.self)
    }
}
