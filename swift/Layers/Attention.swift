/// Grouped-query attention over the spans of a step, with optional norms on queries and keys (Qwen3).
///
/// Projections and rotation run once over all rows; scores run per span on that sequence's cache.

import MLX

/// Sizes of one attention block.
public struct AttentionShape: Sendable, Equatable {
    /// C.
    public let width: Int
    /// H, a multiple of K.
    public let heads: Int
    /// K.
    public let kvHeads: Int
    /// D.
    public let headDimension: Int

    /// All sizes.
    public init(width: Int, heads: Int, kvHeads: Int, headDimension: Int) {
        self.width = width
        self.heads = heads
        self.kvHeads = kvHeads
        self.headDimension = headDimension
    }
}

/// Causal self-attention.
public struct Attention {
    private let shape: AttentionShape
    private let rope: Rope
    private let query: Linear
    private let key: Linear
    private let value: Linear
    private let output: Linear
    private let queryNorm: RMSNorm?
    private let keyNorm: RMSNorm?

    /// Declares `path.{q,k,v,o}_proj`, and `path.{q,k}_norm` when `normEpsilon` is given.
    /// - Parameter bias: Whether all four projections have one.
    public init(
        _ path: String, shape: AttentionShape, rope: Rope, bias: Bool, normEpsilon: Float?,
        from source: any ParameterSource
    ) throws {
        self.shape = shape
        self.rope = rope
        let queries = shape.heads * shape.headDimension
        let keys = shape.kvHeads * shape.headDimension
        query = try Linear("\(path).q_proj", inputs: shape.width, outputs: queries, bias: bias, from: source)
        key = try Linear("\(path).k_proj", inputs: shape.width, outputs: keys, bias: bias, from: source)
        value = try Linear("\(path).v_proj", inputs: shape.width, outputs: keys, bias: bias, from: source)
        output = try Linear("\(path).o_proj", inputs: queries, outputs: shape.width, bias: bias, from: source)
        let width = shape.headDimension
        queryNorm = try normEpsilon.map { try RMSNorm("\(path).q_norm", width: width, epsilon: $0, from: source) }
        keyNorm = try normEpsilon.map { try RMSNorm("\(path).k_norm", width: width, epsilon: $0, from: source) }
    }

    /// - Parameters:
    ///   - x: [R, C]
    ///   - layer: Which cache of each span.
    /// - Returns: [R, C]
    public func callAsFunction(_ x: MLXArray, _ rows: StepRows, layer: Int) -> MLXArray {
        let queries = rotated(query(x), norm: queryNorm, heads: shape.heads, rows)
        let keys = rotated(key(x), norm: keyNorm, heads: shape.kvHeads, rows)
        let values = headsFirst(value(x).reshaped(x.dim(0), shape.kvHeads, 1, shape.headDimension))
        let mixed: [MLXArray] = rows.spans.map { span in
            let whole = rows.spans.count == 1
            let cached = span.caches[layer].append(
                keys: whole ? keys : keys[0..., 0..., span.range, 0...],
                values: whole ? values : values[0..., 0..., span.range, 0...])
            return MLXFast.scaledDotProductAttention(
                queries: whole ? queries : queries[0..., 0..., span.range, 0...],
                keys: cached.keys, values: cached.values, scale: scale,
                mask: span.range.count == 1 ? .none : .causal)
        }
        let joined = mixed.count == 1 ? mixed[0] : concatenated(mixed, axis: 2)  // [1, H, R, D]
        return output(joined.transposed(0, 2, 1, 3).reshaped(x.dim(0), shape.heads * shape.headDimension))
    }

    private var scale: Float { 1 / Float(shape.headDimension).squareRoot() }

    /// - Parameter x: [R, heads * D]
    /// - Returns: [1, heads, R, D], normed and rotated.
    private func rotated(_ x: MLXArray, norm: RMSNorm?, heads: Int, _ rows: StepRows) -> MLXArray {
        let split = x.reshaped(x.dim(0), heads, 1, shape.headDimension)
        return headsFirst(rope(norm?(split) ?? split, positions: rows.positions))
    }

    /// - Parameter x: [R, heads, 1, D]
    /// - Returns: [1, heads, R, D]
    private func headsFirst(_ x: MLXArray) -> MLXArray { x.transposed(2, 1, 0, 3) }
}
