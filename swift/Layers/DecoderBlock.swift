/// The pre-norm block of dense decoders: x + attention(norm(x)), then x + feed-forward(norm(x)).

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

    /// - Parameter x: [R, C]
    /// - Returns: [R, C]
    public func callAsFunction(_ x: MLXArray) -> MLXArray {
        let gated = gate(x)
        return down(gated * sigmoid(gated) * up(x))
    }
}

/// One layer of a dense decoder.
public struct DecoderBlock {
    private let attention: Attention
    private let feedForward: GatedFeedForward
    private let attentionNorm: RMSNorm
    private let feedForwardNorm: RMSNorm

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

    /// - Parameters:
    ///   - x: [R, C]
    ///   - layer: Index of this block.
    /// - Returns: [R, C]
    public func callAsFunction(_ x: MLXArray, _ rows: StepRows, layer: Int) -> MLXArray {
        let mixed = x + attention(attentionNorm(x), rows, layer: layer)
        return mixed + feedForward(feedForwardNorm(mixed))
    }
}
