/// Inputs of the op checks, and their comparison.

import Kernels
import MLX

/// A check that could not be made.
struct CheckFailure: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}

/// Runs both sides inside MLX's error handler.
/// - Parameter sides: Two arrays of one shape.
/// - Throws: What MLX reports.
func compared(
    allowed: Float, _ sides: () throws -> (MLXArray, MLXArray)
) throws -> KernelDifference {
    try withError { errors in
        let (found, wanted) = try sides()
        eval(found, wanted)
        try errors.check()
        guard found.shape == wanted.shape else {
            throw CheckFailure(message: "the shape is \(found.shape), wanted \(wanted.shape)")
        }
        let pairs = zip(found.asType(.float32).asArray(Float.self), wanted.asType(.float32).asArray(Float.self))
        try errors.check()
        // `max` drops a NaN; it must stay.
        let error = pairs.reduce(Float(0)) { worst, pair in
            let difference = abs(pair.0 - pair.1)
            return difference.isNaN ? .nan : max(worst, difference)
        }
        return KernelDifference(error: error, allowed: allowed)
    }
}

/// Numbers in [-1, 1) from a fixed sequence (a 64-bit linear congruence, constants of MMIX).
func numbers(_ shape: [Int], seed: UInt64 = 1) -> MLXArray {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    let values = (0..<shape.reduce(1, *)).map { _ -> Float in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(state >> 40) / Float(1 << 23) - 1
    }
    return MLXArray(values, shape)
}

/// A quantized matrix [rows, columns].
struct PackedMatrix {
    private let packed: MLXArray
    private let scales: MLXArray
    private let biases: MLXArray?
    private let group: Int
    private let bits: Int

    init(rows: Int, columns: Int, bits: Int, group: Int, _ type: DType) {
        let parts = quantized(numbers([rows, columns], seed: 3).asType(type), groupSize: group, bits: bits)
        (packed, scales, biases) = (parts.wq, parts.scales, parts.biases)
        (self.group, self.bits) = (group, bits)
    }

    /// - Parameter x: [R, columns]
    /// - Returns: [R, rows]
    func product(_ x: MLXArray) -> MLXArray {
        quantizedMM(x, packed, scales: scales, biases: biases, transpose: true, groupSize: group, bits: bits)
    }

    /// [rows, columns]
    var unpacked: MLXArray { dequantized(packed, scales: scales, biases: biases, groupSize: group, bits: bits) }
}

/// Queries [1, 9, T, 64] that are the last T of S positions, keys and values [1, 3, S, 64].
struct AttentionInput {
    private let queries: MLXArray
    private let keys: MLXArray
    private let values: MLXArray
    private let before: Int

    init(queries: Int, keys: Int) {
        self.queries = numbers([1, 9, queries, 64])
        self.keys = numbers([1, 3, keys, 64], seed: 2)
        values = numbers([1, 3, keys, 64], seed: 3)
        before = keys - queries
    }

    /// The op, for rows `from` to `to` on the keys that the last of them sees.
    /// - Returns: [1, 9, to - from, 64]
    func attended(from: Int, to: Int) -> MLXArray {
        MLXFast.scaledDotProductAttention(
            queries: queries[0..., 0..., from..<to, 0...], keys: keys[0..., 0..., 0..<before + to, 0...],
            values: values[0..., 0..., 0..<before + to, 0...], scale: 0.125, mask: to - from == 1 ? .none : .causal)
    }

    /// The same for all rows, in plain ops.
    func attendedPlainly() -> MLXArray {
        let (rows, count) = (queries.dim(2), keys.dim(2))
        let mask: [Float] = (0..<rows * count).map { i in i % count <= before + i / count ? 0 : -.infinity }
        let scores = matmul(queries * 0.125, repeated(keys, count: 3, axis: 1).transposed(0, 1, 3, 2))
        let weights = softmax(scores + MLXArray(mask, [rows, count]), axis: -1)
        return matmul(weights, repeated(values, count: 3, axis: 1))
    }
}
