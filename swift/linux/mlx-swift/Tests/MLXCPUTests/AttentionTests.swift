import MLX
import Testing

@testable import MLXCPU

// Attention against float64, and its rows' bits whatever the chunking, the threads and the other rows.
#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// Queries, keys and values of one call.
private struct Operands {
    let q: MLXArray
    let k: MLXArray
    let v: MLXArray
    let scale: Float = 0.3

    init(heads: Int, kvHeads: Int, rows: Int, keys: Int, width: Int, cache: DType = .float32) {
        var seed = Seeded(UInt64(rows * 1000 + keys))
        q = seed.normal([1, heads, rows, width])
        k = seed.normal([1, kvHeads, keys, width]).asType(cache)
        v = seed.normal([1, kvHeads, keys, width]).asType(cache)
    }

    func attend(_ rows: Range<Int>? = nil, sinks: MLXArray? = nil, mask: MLXArray? = nil) -> MLXArray {
        let total = q.dim(2)
        let range = rows ?? 0..<total
        let keys = k.dim(2) - total + range.upperBound
        return MLXFast.scaledDotProductAttention(
            queries: q[0..., 0..., range, 0...], keys: k[0..., 0..., ..<keys, 0...],
            values: v[0..., 0..., ..<keys, 0...],
            scale: scale, mask: mask.map { .array($0) } ?? .causal, sinks: sinks)
    }

    /// One output row in float64.
    func reference(head: Int, row: Int, sink: Double? = nil) -> [Double] {
        let (width, group) = (q.dim(3), q.dim(1) / k.dim(1))
        let query = doubles(q[0, head, row])
        let (keys, values) = (doubles(k[0, head / group]), doubles(v[0, head / group]))
        let seen = k.dim(2) - q.dim(2) + row + 1
        let scores = (0..<seen).map { key in
            Double(scale) * (0..<width).reduce(0.0) { $0 + query[$1] * keys[key * width + $1] }
        }
        let top = scores.max() ?? 0
        let weights = scores.map { exp($0 - top) }
        let total = weights.reduce(0, +) + (sink.map { exp($0 - top) } ?? 0)
        return (0..<width).map { d in
            (0..<seen).reduce(0.0) { $0 + weights[$1] * values[$1 * width + d] } / total
        }
    }
}

extension CPUSuite {
    @Suite struct AttentionTests {
        @Test(arguments: [(1, 1), (1, 130), (3, 300), (40, 40), (17, 129)], [64, 20, 128])
        func attentionMatchesFloat64(_ sizes: (rows: Int, keys: Int), _ width: Int) throws {
            for cache in [DType.float32, .float16] {
                let operands = Operands(
                    heads: 6, kvHeads: 2, rows: sizes.rows, keys: sizes.keys, width: width, cache: cache)
                try withEveryVariant { variant, _ in
                    let y = operands.attend()
                    for (head, row) in [(0, 0), (3, sizes.rows / 2), (5, sizes.rows - 1)] {
                        let difference =
                            zip(doubles(y[0, head, row]), operands.reference(head: head, row: row))
                            .map { abs($0 - $1) }.max() ?? 0
                        #expect(difference < 3e-5, "\(variant), \(sizes), \(cache)")
                    }
                }
            }
        }

        @Test(arguments: [(1, 700), (2, 300), (33, 160), (130, 257), (300, 301)])
        func aRowsBitsDependOnItsSequenceAlone(_ sizes: (rows: Int, keys: Int)) throws {
            let operands = Operands(heads: 9, kvHeads: 3, rows: sizes.rows, keys: sizes.keys, width: 64)
            try withEveryVariant { variant, _ in
                let whole = try withThreads(1) { operands.attend() }
                eval(whole)
                for threads in 2...4 {
                    #expect(
                        try withThreads(threads) { bits(operands.attend()) } == bits(whole), "\(variant), \(threads)")
                }
                let cuts = [0, sizes.rows / 3, sizes.rows / 2, sizes.rows - 1, sizes.rows]
                for (start, end) in zip(cuts, cuts.dropFirst()) where start < end {
                    #expect(
                        bits(operands.attend(start..<end)) == bits(whole[0..., 0..., start..<end, 0...]),
                        "\(variant), rows \(start) to \(end)")
                }
            }
        }

        @Test func sinksTakePartWithoutAValue() throws {
            let operands = Operands(heads: 4, kvHeads: 4, rows: 2, keys: 140, width: 64)
            try withEveryVariant { variant, _ in
                let y = operands.attend(sinks: MLXArray([0.5, -1, 2, 30] as [Float]))
                for (head, sink) in [0.5, -1, 2, 30].enumerated() {
                    let wanted = operands.reference(head: head, row: 1, sink: sink)
                    let difference = zip(doubles(y[0, head, 1]), wanted).map { abs($0 - $1) }.max() ?? 0
                    #expect(difference < 1e-5, "\(variant), head \(head)")
                }
            }
        }

        @Test func masksThatSayCausalEqualCausal() throws {
            let operands = Operands(heads: 4, kvHeads: 2, rows: 5, keys: 150, width: 64)
            let (row, key) = (MLXArray(0..<5).reshaped(5, 1), MLXArray(0..<150).reshaped(1, 150))
            let keep = key .<= (row + 145)
            let added = MLX.where(keep, MLXArray(Float(0)), MLXArray(-Float.infinity))
            try withEveryVariant { variant, _ in
                let wanted = bits(operands.attend())
                #expect(bits(operands.attend(mask: keep)) == wanted, "\(variant), bool")
                #expect(bits(operands.attend(mask: added)) == wanted, "\(variant), added")
            }
        }
    }
}
