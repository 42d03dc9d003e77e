/// The pre-norm block of dense decoders: x + attention(norm(x)), then x + feed-forward(norm(x)).

import Kernels
import MLX

/// down(silu(gate(x)) * up(x)).
public struct GatedFeedForward {
    private let gate: Linear
    private let up: Linear
    private let down: Linear

    /// Declares `path.{gate,up,down}_proj`.
    public init(_ path: String, width: Int, inner: Int, bias: Bool, from source: any ParameterSource) throws {
        gate = try Linear("\(path).gate_proj", inputs: width, outputs: inner, bias: bias, from: source)
        up = try Linear("\(path).up_proj", inputs: width, outputs: inner, bias: bias, from: source)
        down = try Linear("\(path).down_proj", inputs: inner, outputs: width, bias: bias, from: source)
    }

    /// Sizes and storage of the projections.
    var kinds: [Matrix.Kind] { [gate.kind, up.kind, down.kind] }

    /// x + down(silu(gate(norm(x))) * up(norm(x))) as a kernel; parameters must be filled.
    /// - Throws: `KernelError` when this device has no kernel for them.
    func block(norm: RMSNorm) throws -> FeedForwardBlock {
        try FeedForwardBlock(
            norm: norm.kernelNorm, gate: gate.kernelMatrix, up: up.kernelMatrix, down: down.kernelMatrix)
    }
}

/// One layer of a dense decoder.
public final class DecoderBlock {
    private let attention: Attention
    private let feedForward: GatedFeedForward
    private let attentionNorm: RMSNorm
    private let feedForwardNorm: RMSNorm
    /// Made of the loaded weights by `prepare`, or at the first step.
    private var kernels: (attention: AttentionBlock, feedForward: FeedForwardBlock)?

    /// Joins the parts and declares `path.{input,post_attention}_layernorm`.
    public init(
        _ path: String, attention: Attention, feedForward: GatedFeedForward, width: Int, epsilon: Float,
        from source: any ParameterSource
    ) throws {
        self.attention = attention
        self.feedForward = feedForward
        attentionNorm = try RMSNorm("\(path).input_layernorm", width: width, epsilon: epsilon, from: source)
        feedForwardNorm = try RMSNorm(
            "\(path).post_attention_layernorm", width: width, epsilon: epsilon, from: source)
    }

    /// Sizes and storage of all projections: blocks with the same run the same kernels.
    public var kinds: [Matrix.Kind] { attention.kinds + feedForward.kinds }

    /// Makes the kernels of this layer; parameters must be filled.
    /// - Throws: `KernelError` when this device has no kernel for them.
    public func prepare() throws { _ = try prepared() }

    /// - Parameters:
    ///   - x: [R, C]
    ///   - layer: Index of this block.
    /// - Returns: [R, C]
    /// - Throws: `KernelError`, if `prepare` has not been called and would.
    public func callAsFunction(_ x: MLXArray, _ rows: StepRows, layer: Int) throws -> MLXArray {
        let kernels = try prepared()
        let spans = rows.spans.map { AttentionBlock.Span(count: $0.range.count, cache: $0.caches[layer]) }
        return kernels.feedForward(kernels.attention(x, positions: rows.positions, spans: spans))
    }

    private func prepared() throws -> (attention: AttentionBlock, feedForward: FeedForwardBlock) {
        if let kernels { return kernels }
        let made = try (
            attention: attention.block(norm: attentionNorm), feedForward: feedForward.block(norm: feedForwardNorm)
        )
        kernels = made
        return made
    }
}
