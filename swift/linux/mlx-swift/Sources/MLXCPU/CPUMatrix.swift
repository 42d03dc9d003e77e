// Weights as the blocks take them, and their way into C structs.
import CMLX
import MLX

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A weight `[N, K]`, dense or affine-quantized, with an optional bias.
public struct CPUMatrix {
    /// Codes, scales and biases as MLX packs them.
    public struct Quantization {
        let scales: MLXArray
        let biases: MLXArray?
        let groupSize: Int
        let bits: Int
        let mode: QuantizationMode

        /// Scales and biases `[N, K / groupSize]`; only affine codes have biases.
        public init(
            scales: MLXArray, biases: MLXArray?, groupSize: Int, bits: Int, mode: QuantizationMode = .affine
        ) {
            self.scales = scales
            self.biases = biases
            self.groupSize = groupSize
            self.bits = bits
            self.mode = mode
        }
    }

    let name: String
    let weight: MLXArray
    let quantization: Quantization?
    let bias: MLXArray?

    /// - Parameters:
    ///   - name: For errors.
    ///   - weight: Floats `[N, K]`, or packed codes `[N, K * bits / 32]`.
    ///   - bias: `[N]`
    public init(name: String, weight: MLXArray, quantization: Quantization? = nil, bias: MLXArray? = nil) {
        self.name = name
        self.weight = weight
        self.quantization = quantization
        self.bias = bias
    }
}

/// An RMS norm with its weight `[N]`.
public struct CPUNorm {
    let name: String
    let weight: MLXArray
    let epsilon: Float

    /// - Parameter name: For errors.
    public init(name: String, weight: MLXArray, epsilon: Float) {
        self.name = name
        self.weight = weight
        self.epsilon = epsilon
    }
}

/// Calls `body` with C structs that point into `matrices` and `norms`, which stay alive meanwhile.
func withWeights<Result>(
    _ matrices: [CPUMatrix], _ norms: [CPUNorm?],
    _ body: (UnsafePointer<cmlx_cpu_matrix>, UnsafePointer<cmlx_cpu_norm>) -> Result
) -> Result {
    var names: [UnsafeMutablePointer<CChar>?] = []
    defer { for name in names { free(name) } }
    func text(_ name: String) -> UnsafePointer<CChar>? {
        names.append(strdup(name))
        return names.last.flatMap { UnsafePointer($0) }
    }
    let cMatrices = matrices.map { matrix in
        cmlx_cpu_matrix(
            name: text(matrix.name), weight: matrix.weight.handle, scales: matrix.quantization?.scales.handle,
            biases: matrix.quantization?.biases?.handle,
            group_size: Int32(clamping: matrix.quantization?.groupSize ?? 0),
            bits: Int32(clamping: matrix.quantization?.bits ?? 0),
            mode: matrix.quantization.flatMap { text($0.mode.rawValue) }, bias: matrix.bias?.handle)
    }
    let cNorms = norms.map { norm in
        cmlx_cpu_norm(name: text(norm?.name ?? ""), weight: norm?.weight.handle, epsilon: norm?.epsilon ?? 0)
    }
    return withExtendedLifetime((matrices, norms)) {
        cMatrices.withUnsafeBufferPointer { matrices in
            cNorms.withUnsafeBufferPointer { norms in
                // Both lists have an element: the callers pass literals.
                guard let firstMatrix = matrices.baseAddress, let firstNorm = norms.baseAddress else {
                    fatalError("a block without weights")
                }
                return body(firstMatrix, firstNorm)
            }
        }
    }
}

/// Why the last call of this thread failed.
func lastError() -> MLXError { .caught(String(cString: cmlx_last_error())) }
