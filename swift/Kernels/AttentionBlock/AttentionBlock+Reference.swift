/// The attention block in plain ops: what the kernel is compared with, and what runs where there is none.

import MLX

extension AttentionBlock {
    /// - Parameters:
    ///   - x: [R, C]
    ///   - positions: [R], int32
    /// - Returns: [R, C]
    func reference(_ x: MLXArray, positions: MLXArray, spans: [Span]) -> MLXArray {
        let normed = norms.input(x)
        let queries = rotated(projections.query.product(normed), norms.query, heads.count, positions)
        let keys = rotated(projections.key.product(normed), norms.key, heads.kvCount, positions)
        let values = headsFirst(
            projections.value.product(normed).reshaped(x.dim(0), heads.kvCount, 1, heads.dimension))
        var start = 0
        let mixed: [MLXArray] = spans.map { span in
            let range = start..<(start + span.count)
            start = range.upperBound
            let whole = spans.count == 1
            let cached = span.cache.append(
                keys: whole ? keys : keys[0..., 0..., range, 0...],
                values: whole ? values : values[0..., 0..., range, 0...])
            return MLXFast.scaledDotProductAttention(
                queries: whole ? queries : queries[0..., 0..., range, 0...],
                keys: cached.keys, values: cached.values, scale: heads.scale,
                mask: span.count == 1 ? .none : .causal)
        }
        let joined = mixed.count == 1 ? mixed[0] : concatenated(mixed, axis: 2)  // [1, H, R, D]
        let rows = joined.transposed(0, 2, 1, 3).reshaped(x.dim(0), heads.count * heads.dimension)
        return x + projections.output.product(rows)
    }

    /// - Parameter x: [R, count * D]
    /// - Returns: [1, count, R, D], normed and rotated.
    private func rotated(_ x: MLXArray, _ norm: KernelNorm?, _ count: Int, _ positions: MLXArray) -> MLXArray {
        let split = x.reshaped(x.dim(0), count, 1, heads.dimension)
        let normed = norm?(split) ?? split
        let scaled = rotation.amplitude == 1 ? normed : normed * rotation.amplitude
        return headsFirst(
            MLXFast.RoPE(
                scaled, dimensions: rotation.dimensions, traditional: rotation.traditional, base: rotation.base,
                scale: rotation.scale, offset: positions, freqs: freqs))
    }

    /// - Parameter x: [R, count, 1, D]
    /// - Returns: [1, count, R, D]
    private func headsFirst(_ x: MLXArray) -> MLXArray { x.transposed(2, 1, 0, 3) }
}
