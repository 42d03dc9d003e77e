// The fused ops of transformers. On the CPU these may run on our own primitives (CMLX/route.cpp).
import CMLX

/// Fused ops.
public enum MLXFast {
    /// Rotary position embedding of x `[..., T, D]`: the first `dimensions` of D are rotated by position `offset + t`.
    /// `traditional` rotates neighbours, else the halves; either `base` or `freqs` gives the wavelengths.
    public static func RoPE(
        _ array: MLXArray, dimensions: Int, traditional: Bool, base: Float?, scale: Float,
        offset: Int,
        freqs: MLXArray? = nil, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLXArray(
            cmlx_rope(
                array.handle, dimensions.int32, traditional, optional(base), scale, offset.int32, freqs?.handle,
                stream.ctx))
    }

    /// The same with the offset in an array: a scalar, or one for each sequence of the batch.
    public static func RoPE(
        _ array: MLXArray,
        dimensions: Int,
        traditional: Bool,
        base: Float?,
        scale: Float,
        offset: MLXArray,
        freqs: MLXArray? = nil,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLXArray(
            cmlx_rope_dynamic(
                array.handle, dimensions.int32, traditional, optional(base), scale, offset.handle, freqs?.handle,
                stream.ctx))
    }

    /// Attention with a mask that is added (a number type) or that keeps (bool); see the other form.
    public static func scaledDotProductAttention(
        queries: MLXArray, keys: MLXArray, values: MLXArray, scale: Float, mask: MLXArray?,
        sinks: MLXArray? = nil,
        memoryEfficientThreshold: Int? = nil, stream: StreamOrDevice = .default
    ) -> MLXArray {
        attention(queries, keys, values, scale, "", mask, sinks, stream)
    }

    /// Which keys a query sees.
    public enum ScaledDotProductAttentionMaskMode {
        /// All.
        case none
        /// By an array that broadcasts to `[B, H, T, S]`: added if it has a number type, kept where true if bool.
        case array(MLXArray)
        /// Those up to its own position, counted from the end: query t sees keys up to S - T + t.
        case causal

        /// The array, if there is one.
        public var mask: MLXArray? {
            if case .array(let array) = self { array } else { nil }
        }

        /// The name that MLX gives the mode.
        public var mode: String {
            if case .causal = self { "causal" } else { "" }
        }
    }

    /// softmax(scale * q @ k.T + mask) @ v for queries `[B, H, T, D]`, keys and values `[B, K, S, D]`; K divides H.
    /// `sinks` `[H]`: a logit of each head that takes part in the softmax and has no value.
    public static func scaledDotProductAttention(
        queries: MLXArray, keys: MLXArray, values: MLXArray, scale: Float,
        mask: ScaledDotProductAttentionMaskMode,
        sinks: MLXArray? = nil,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        attention(queries, keys, values, scale, mask.mode, mask.mask, sinks, stream)
    }

    private static func attention(
        _ queries: MLXArray, _ keys: MLXArray, _ values: MLXArray, _ scale: Float, _ mode: String, _ mask: MLXArray?,
        _ sinks: MLXArray?, _ stream: StreamOrDevice
    ) -> MLXArray {
        withExtendedLifetime(mask) {
            MLXArray(
                cmlx_scaled_dot_product_attention(
                    queries.handle, keys.handle, values.handle, scale, mode, mask?.handle, sinks?.handle,
                    stream.ctx))
        }
    }

    /// x / sqrt(mean(x²) + eps) * weight over the last axis; `mlxNone` as weight: no factor.
    public static func rmsNorm(
        _ x: MLXArray, weight: MLXArray, eps: Float, stream: StreamOrDevice = .default
    )
        -> MLXArray
    {
        MLXArray(cmlx_rms_norm(x.handle, weight.handle, eps, stream.ctx))
    }

    /// (x - mean) / sqrt(variance + eps) * weight + bias over the last axis.
    public static func layerNorm(
        _ x: MLXArray, weight: MLXArray? = nil, bias: MLXArray? = nil, eps: Float,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLXArray(cmlx_layer_norm(x.handle, weight?.handle, bias?.handle, eps, stream.ctx))
    }
}
