// Whole blocks of a decoder as one graph node each.
import CMLX
import MLX

/// x + down(silu(gate(norm(x))) * up(norm(x))).
public final class CPUFeedForward {
    private let handle: OpaquePointer

    /// Evaluates the weights and checks them.
    /// - Throws: For shapes, dtypes, bits or groups that the kernels don't take.
    public init(norm: CPUNorm, gate: CPUMatrix, up: CPUMatrix, down: CPUMatrix) throws {
        let made = withWeights([gate, up, down], [norm]) { matrices, norms in
            cmlx_cpu_feed_forward_new(norms, matrices, matrices + 1, matrices + 2)
        }
        guard let made else { throw lastError() }
        handle = made
    }

    deinit { cmlx_cpu_feed_forward_free(handle) }

    /// - Parameter x: [R, C]
    /// - Returns: [R, C], in the dtype of `x`.
    public func callAsFunction(_ x: MLXArray, stream: StreamOrDevice = .cpu) -> MLXArray {
        MLXArray(cmlx_cpu_feed_forward_apply(handle, x.handle, stream.ctx))
    }
}

/// Rotary embedding: the angle of pair i is position * scale / period i.
public struct CPURope {
    let dimensions: Int
    let traditional: Bool
    let base: Float
    let periods: [Float]?
    let scale: Float
    let amplitude: Float

    /// - Parameters:
    ///   - dimensions: Rotated elements of a head, even.
    ///   - traditional: Pairs (2i, 2i+1), else (i, i + dimensions/2).
    ///   - base: Periods are base^(2i / dimensions), unless given.
    ///   - amplitude: Heads are multiplied by it first.
    public init(
        dimensions: Int, traditional: Bool, base: Float, periods: [Float]? = nil, scale: Float = 1, amplitude: Float = 1
    ) {
        self.dimensions = dimensions
        self.traditional = traditional
        self.base = base
        self.periods = periods
        self.scale = scale
        self.amplitude = amplitude
    }
}

/// x + output(attention(rope(query(norm(x))), rope(key(norm(x))), value(norm(x)))), causal, over paged caches.
public final class CPUAttention {
    /// Projections of a block.
    public struct Projections {
        let query: CPUMatrix
        let key: CPUMatrix
        let value: CPUMatrix
        let output: CPUMatrix

        /// All four.
        public init(query: CPUMatrix, key: CPUMatrix, value: CPUMatrix, output: CPUMatrix) {
            self.query = query
            self.key = key
            self.value = value
            self.output = output
        }
    }

    /// Norms of a block: of its input, and over each head's queries and keys.
    public struct Norms {
        let input: CPUNorm
        let query: CPUNorm?
        let key: CPUNorm?

        /// Nil: none.
        public init(input: CPUNorm, query: CPUNorm? = nil, key: CPUNorm? = nil) {
            self.input = input
            self.query = query
            self.key = key
        }
    }

    /// Heads of a block.
    public struct Layout {
        let heads: Int
        let kvHeads: Int
        let headDimension: Int
        let scale: Float

        /// `scale` multiplies the scores.
        public init(heads: Int, kvHeads: Int, headDimension: Int, scale: Float) {
            self.heads = heads
            self.kvHeads = kvHeads
            self.headDimension = headDimension
            self.scale = scale
        }
    }

    /// The next `count` rows: they have absolute positions `position` and on, and belong to the sequence of `cache`.
    public struct Span {
        let count: Int
        let position: Int
        let cache: CPUCache

        /// Rows of one sequence.
        public init(count: Int, position: Int, cache: CPUCache) {
            self.count = count
            self.position = position
            self.cache = cache
        }
    }

    private let handle: OpaquePointer

    /// Evaluates the weights and checks them.
    /// - Throws: For shapes, dtypes, bits or groups that the kernels don't take.
    public init(_ projections: Projections, norms: Norms, rope: CPURope, layout: Layout) throws {
        if let periods = rope.periods, periods.count != rope.dimensions / 2 {
            throw MLXError.caught("\(periods.count) periods for \(rope.dimensions) rotated elements")
        }
        let matrices = [projections.query, projections.key, projections.value, projections.output]
        let cLayout = cmlx_cpu_attention_layout(
            heads: Int32(clamping: layout.heads), kv_heads: Int32(clamping: layout.kvHeads),
            head_dim: Int32(clamping: layout.headDimension), scale: layout.scale)
        let made = withWeights(matrices, [norms.input, norms.query, norms.key]) { matrices, norms in
            (rope.periods ?? []).withUnsafeBufferPointer { periods in
                let cRope = cmlx_cpu_rope(
                    dims: Int32(clamping: rope.dimensions), traditional: rope.traditional, scale: rope.scale,
                    amplitude: rope.amplitude, base: rope.base,
                    periods: rope.periods == nil ? nil : periods.baseAddress)
                return withUnsafePointer(to: cRope) { rope in
                    withUnsafePointer(to: cLayout) { layout in
                        cmlx_cpu_attention_new(
                            norms, matrices, matrices + 1, matrices + 2, matrices + 3, norms + 1, norms + 2, rope,
                            layout)
                    }
                }
            }
        }
        guard let made else { throw lastError() }
        handle = made
    }

    deinit { cmlx_cpu_attention_free(handle) }

    /// - Parameters:
    ///   - x: [R, C]
    ///   - spans: Whose counts add up to R. Their caches are written when the result is evaluated: exactly once, in the
    ///     order in which steps were built.
    /// - Returns: [R, C], in the dtype of `x`.
    public func callAsFunction(_ x: MLXArray, _ spans: [Span], stream: StreamOrDevice = .cpu) -> MLXArray {
        let cSpans = spans.map {
            cmlx_cpu_span(count: Int32(clamping: $0.count), position: Int64($0.position), cache: $0.cache.handle)
        }
        return withExtendedLifetime(spans) {
            MLXArray(cmlx_cpu_attention_apply(handle, x.handle, cSpans, cSpans.count, stream.ctx))
        }
    }
}
