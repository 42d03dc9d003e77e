/// The token table in plain ops: what the kernel is compared with, and what runs where there is none.

import MLX

extension TokenTable {
    /// - Parameter indices: [R], int32
    /// - Returns: [R, C]
    func referenceRows(_ indices: MLXArray) -> MLXArray {
        let rows = matrix.weight.take(indices, axis: 0)
        guard let stored = matrix.quantization else { return rows }
        return dequantized(
            rows, scales: stored.scales.take(indices, axis: 0), biases: stored.biases?.take(indices, axis: 0),
            groupSize: stored.groupSize, bits: stored.bits, mode: stored.mode)
    }

    /// - Parameter x: [R, C]
    /// - Returns: [R, 2], uint32
    func referenceBest(_ x: MLXArray) -> MLXArray {
        let logits = matrix.product(x)
        let tokens = argMax(logits, axis: -1, keepDims: true)
        let unsound = (logits .!= logits).any(axis: -1, keepDims: true)
        let values = which(unsound, MLXArray(Float.nan), takeAlong(logits, tokens, axis: -1).asType(.float32))
        return concatenated([tokens.asType(.uint32), values.view(dtype: .uint32)], axis: -1)
    }
}
