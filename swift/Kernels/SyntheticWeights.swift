/// Weights of made-up numbers, for checks of the kernels on the user's machine and in tests.

import MLX

/// Makes weights that are the same in every run.
struct SyntheticWeights {
    private var key: UInt64

    /// Different seeds give different numbers.
    init(seed: UInt64) { key = seed << 16 }

    /// Normal values.
    mutating func values(_ shape: [Int], scale: Float = 1) -> MLXArray {
        key += 1
        return MLXRandom.normal(shape, key: MLXRandom.key(key)) * scale
    }

    /// A matrix `[rows, columns]`; `bits` 0: dense.
    mutating func matrix(
        _ rows: Int, _ columns: Int, bits: Int, group: Int = 32, mode: QuantizationMode = .affine, bias: Bool = false
    ) -> KernelMatrix {
        let dense = values([rows, columns], scale: 1 / Float(columns).squareRoot())
        let offset = bias ? values([rows], scale: 0.1) : nil
        guard bits > 0 else { return KernelMatrix(name: "dense", weight: dense, quantization: nil, bias: offset) }
        let packed = quantized(dense.asType(.float16), groupSize: group, bits: bits, mode: mode)
        let stored = KernelMatrix.Quantization(
            scales: packed.scales, biases: packed.biases, groupSize: group, bits: bits, mode: mode)
        return KernelMatrix(name: "\(bits)-bit \(mode.rawValue)", weight: packed.wq, quantization: stored, bias: offset)
    }

    /// A norm with weights around one.
    mutating func norm(_ width: Int) -> KernelNorm {
        KernelNorm(name: "norm", weight: values([width], scale: 0.1) + 1, epsilon: 1e-5)
    }
}
