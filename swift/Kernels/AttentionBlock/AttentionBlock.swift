/// Computes y = x + output(attention(norm(x))), the first half of a decoder layer, and writes the caches.
///
/// Shapes: x, y [R, C] float; query [H·D, C], key, value [K·D, C], output [C, H·D], as KernelMatrix has them; H a
/// multiple of K, D up to 1024. Rows come in spans, one a sequence; row i of a span sees the keys up to its own
/// position.
/// On the CPU one primitive: norm and packing by rows, q, k and v by pieces of their rows, rotation and cache, then
/// tiles of 32 queries by blocks of 128 keys at absolute positions, output by pieces of C that end in the residual.
/// Assumes: a result is evaluated exactly once, and steps in the order in which they were built (the caches are written
/// then).
/// Beats: see README.md.
/// Reference: AttentionBlock+Reference.swift.

import MLX

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A causal attention block with its weights.
public final class AttentionBlock {
    /// The four projections.
    public struct Projections {
        let query: KernelMatrix
        let key: KernelMatrix
        let value: KernelMatrix
        let output: KernelMatrix

        /// All of them.
        public init(query: KernelMatrix, key: KernelMatrix, value: KernelMatrix, output: KernelMatrix) {
            self.query = query
            self.key = key
            self.value = value
            self.output = output
        }
    }

    /// The norm of the input, and those over each head's queries and keys (Qwen3).
    public struct Norms {
        let input: KernelNorm
        let query: KernelNorm?
        let key: KernelNorm?

        /// Nil: none.
        public init(input: KernelNorm, query: KernelNorm?, key: KernelNorm?) {
            self.input = input
            self.query = query
            self.key = key
        }
    }

    /// Rotary embedding: the angle of pair i is position * scale / period i.
    public struct Rotation {
        let dimensions: Int
        let traditional: Bool
        let base: Float?
        let periods: [Float]?
        let scale: Float
        let amplitude: Float

        /// - Parameters:
        ///   - dimensions: Rotated elements of a head, even.
        ///   - traditional: Pairs (2i, 2i+1), else (i, i + dimensions/2).
        ///   - base: Periods are base^(2i / dimensions); nil when `periods` are given.
        ///   - amplitude: Heads are multiplied by it first (yarn).
        public init(
            dimensions: Int, traditional: Bool, base: Float?, periods: [Float]?, scale: Float, amplitude: Float
        ) {
            self.dimensions = dimensions
            self.traditional = traditional
            self.base = base
            self.periods = periods
            self.scale = scale
            self.amplitude = amplitude
        }
    }

    /// Sizes of the heads.
    public struct Heads {
        let count: Int
        let kvCount: Int
        let dimension: Int

        /// H, K and D.
        public init(count: Int, kvCount: Int, dimension: Int) {
            self.count = count
            self.kvCount = kvCount
            self.dimension = dimension
        }

        /// Of scores.
        var scale: Float { 1 / Float(dimension).squareRoot() }
    }

    /// The next `count` rows of x: one sequence's.
    public struct Span {
        let count: Int
        let cache: KeyValueCache

        /// Rows that follow those in `cache`.
        public init(count: Int, cache: KeyValueCache) {
            self.count = count
            self.cache = cache
        }
    }

    let projections: Projections
    let norms: Norms
    let rotation: Rotation
    let heads: Heads
    let freqs: MLXArray?
    #if canImport(MLXCPU)
        private let cpu: CPUAttention?
    #endif

    /// Takes loaded weights.
    /// - Throws: `KernelError` for shapes or a quantization that the kernel of this device does not take.
    public init(_ projections: Projections, norms: Norms, rotation: Rotation, heads: Heads) throws {
        self.projections = projections
        self.norms = norms
        self.rotation = rotation
        self.heads = heads
        freqs = rotation.periods.map { MLXArray($0) }
        #if canImport(MLXCPU)
            cpu = try onCPU { try AttentionBlock.cpuBlock(projections, norms, rotation, heads) }
        #endif
    }

    /// - Parameters:
    ///   - x: [R, C]
    ///   - positions: [R], int32, absolute: the count of the span's cache and on.
    ///   - spans: In order of rows, without gaps. Their caches take the new rows.
    /// - Returns: [R, C]
    public func callAsFunction(_ x: MLXArray, positions: MLXArray, spans: [Span]) -> MLXArray {
        #if canImport(MLXCPU)
            if let cpu, let cpuSpans = cpuSpans(spans) { return cpu(x, cpuSpans) }
        #endif
        return reference(x, positions: positions, spans: spans)
    }

    #if canImport(MLXCPU)
        private static func cpuBlock(
            _ projections: Projections, _ norms: Norms, _ rotation: Rotation, _ heads: Heads
        ) throws -> CPUAttention {
            try CPUAttention(
                CPUAttention.Projections(
                    query: projections.query.cpu, key: projections.key.cpu, value: projections.value.cpu,
                    output: projections.output.cpu),
                norms: CPUAttention.Norms(input: norms.input.cpu, query: norms.query?.cpu, key: norms.key?.cpu),
                rope: CPURope(
                    dimensions: rotation.dimensions, traditional: rotation.traditional, base: rotation.base ?? 0,
                    periods: rotation.periods, scale: rotation.scale, amplitude: rotation.amplitude),
                layout: CPUAttention.Layout(
                    heads: heads.count, kvHeads: heads.kvCount, headDimension: heads.dimension, scale: heads.scale))
        }

        /// Nil if the caches' sizes are none that the kernels take, which the block's own check has ruled out.
        private func cpuSpans(_ spans: [Span]) -> [CPUAttention.Span]? {
            try? spans.map { span in
                let position = span.cache.count
                let pages = try span.cache.pages(
                    adding: span.count, kvHeads: heads.kvCount, headDimension: heads.dimension)
                return CPUAttention.Span(count: span.count, position: position, cache: pages)
            }
        }
    #endif
}
