/// Keys and values of one layer of one sequence, as the attention of this device keeps them.
///
/// On the CPU: pages of 128 rows that the attention block writes in place. With plain ops: one array each that grows in
/// steps, updated in place as long as nobody else holds it (MLX gives an operation its input's memory when it holds the
/// last reference). A cache is used by one of the two ways for its whole life.
///
/// Invariants: rows [0, count) are valid once the step that wrote them is evaluated; `count` never passes `capacity`.
/// Source of the growth rule: mlx-lm `cache.py` at d78bf58, with steps that grow with the cache so that copying stays
/// linear.

import MLX

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A growing cache.
public final class KeyValueCache {
    /// Tokens that the arrays grow by at least.
    static let growthTokens = 256

    private let capacity: Int
    private let dtype: DType
    /// Rows that it holds, those of the step being built included.
    public private(set) var count = 0
    private var keys: MLXArray?
    private var values: MLXArray?
    #if canImport(MLXCPU)
        private var pages: CPUCache?
    #endif

    /// - Parameters:
    ///   - capacity: Tokens at most; going beyond it is the caller's bug and is refused by the runner before.
    ///   - dtype: What keys and values are rounded to.
    public init(capacity: Int, dtype: DType) {
        self.capacity = capacity
        self.dtype = dtype
    }

    /// What a step must evaluate beside its result, so that the cache holds data and no graph.
    public var state: [MLXArray] { [keys, values].compactMap { $0 } }

    /// Appends T rows and lends all S rows, the new ones included, for use in this step's arrays only: an array that
    /// outlives the step would make the next append copy the whole cache.
    /// - Parameters:
    ///   - keys: [1, K, T, D]
    ///   - values: [1, K, T, D]
    /// - Returns: Keys and values, [1, K, S, D].
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
        let step = max(KeyValueCache.growthTokens, length / 4)
        let growth = KeyValueCache.growthTokens
        let wanted = (max(end, length + step) + growth - 1) / growth * growth
        // A capacity below one step is common in short answers; never take more than was priced.
        let target = max(end, min(wanted, capacity))
        let more = MLXArray.zeros([1, rows.dim(1), target - length, rows.dim(3)], dtype: dtype)
        return held.map { concatenated([$0, more], axis: 2) } ?? more
    }

    #if canImport(MLXCPU)
        /// The pages, for a step that writes `rows` rows from `count` on.
        /// - Throws: For heads that the CPU kernels don't take.
        func pages(adding rows: Int, kvHeads: Int, headDimension: Int) throws -> CPUCache {
            let pages = try self.pages ?? CPUCache(kvHeads: kvHeads, headDimension: headDimension, dtype: dtype)
            self.pages = pages
            count += rows
            return pages
        }
    #endif
}
