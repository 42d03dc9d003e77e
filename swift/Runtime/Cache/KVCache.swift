/// Keys and values of one layer of one sequence, in one array each that grows in steps.
///
/// Invariants: rows [0, count) are valid; `count` never passes `capacity`; nobody else holds the arrays between steps,
/// so an append updates them in place (MLX gives an operation its input's memory when it holds the last reference).
///
/// Source of the growth rule: mlx-lm `cache.py` at d78bf58, with steps that grow with the cache so that copying stays
/// linear.

import Layers
import MLX

/// A growing cache.
final class KVCache: AttentionCache {
    /// Tokens that the arrays grow by at least.
    static let growthTokens = 256

    private let capacity: Int
    private let dtype: DType
    private var count = 0
    private var keys: MLXArray?
    private var values: MLXArray?

    /// - Parameters:
    ///   - capacity: Tokens at most; appends beyond it are the caller's bug and are refused by the runner before.
    ///   - dtype: What keys and values are rounded to.
    init(capacity: Int, dtype: DType) {
        self.capacity = capacity
        self.dtype = dtype
    }

    /// What a step must evaluate so that the cache holds data and no graph.
    var state: [MLXArray] { [keys, values].compactMap { $0 } }

    func append(keys newKeys: MLXArray, values newValues: MLXArray) -> (keys: MLXArray, values: MLXArray) {
        let end = count + newKeys.dim(2)
        let allKeys = room(for: end, in: keys, like: newKeys)
        let allValues = room(for: end, in: values, like: newValues)
        // A slice update replaces what the object stands for, so the former array has no other holder.
        allKeys[0..., 0..., count..<end, 0...] = newKeys.asType(dtype)
        allValues[0..., 0..., count..<end, 0...] = newValues.asType(dtype)
        keys = allKeys
        values = allValues
        count = end
        return (allKeys[0..., 0..., ..<end, 0...], allValues[0..., 0..., ..<end, 0...])
    }

    /// - Parameter rows: [1, K, T, D], for the shape.
    /// - Returns: [1, K, at least `end`, D]
    private func room(for end: Int, in held: MLXArray?, like rows: MLXArray) -> MLXArray {
        let length = held?.dim(2) ?? 0
        if let held, end <= length { return held }
        let step = max(KVCache.growthTokens, length / 4)
        let wanted = (max(end, length + step) + KVCache.growthTokens - 1) / KVCache.growthTokens * KVCache.growthTokens
        // A capacity below one step is common in short answers; never take more than was priced.
        let target = max(end, min(wanted, capacity))
        let more = MLXArray.zeros([1, rows.dim(1), target - length, rows.dim(3)], dtype: dtype)
        return held.map { concatenated([$0, more], axis: 2) } ?? more
    }
}
