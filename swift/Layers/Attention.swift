/// Grouped-query attention over the spans of a step, with optional norms on queries and keys (Qwen3): its weights, and
/// the kernel that is made of them.
///
/// Projections and rotation run once over all rows; scores run per span on that sequence's cache.

import Kernels
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

    /// Sizes and storage of the projections.
    var kinds: [Matrix.Kind] { [query.kind, key.kind, value.kind, output.kind] }

    /// x + attention(norm(x)) as a kernel; parameters must be filled.
    /// - Throws: `KernelError` when this device has no kernel for them.
    func block(norm: RMSNorm) throws -> AttentionBlock {
        try AttentionBlock(
            AttentionBlock.Projections(
                query: query.kernelMatrix, key: key.kernelMatrix, value: value.kernelMatrix,
                output: output.kernelMatrix),
            norms: AttentionBlock.Norms(
                input: norm.kernelNorm, query: queryNorm?.kernelNorm, key: keyNorm?.kernelNorm),
            rotation: rope.kernelRotation,
            heads: AttentionBlock.Heads(
                count: shape.heads, kvCount: shape.kvHeads, dimension: shape.headDimension))
    }
}
