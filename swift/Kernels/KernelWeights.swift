/// Weights as the fused kernels take them: what a checkpoint stores, by name.

import MLX

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A weight matrix `[N, K]`, dense or quantized, with an optional bias.
public struct KernelMatrix {
    /// Scales and biases `[N, K / groupSize]` of packed codes.
    public struct Quantization {
        let scales: MLXArray
        let biases: MLXArray?
        let groupSize: Int
        let bits: Int
        let mode: QuantizationMode

        /// All of it; biases are nil unless affine.
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
    ///   - weight: Floats `[N, K]`, or uint32 `[N, K * bits / 32]`.
    ///   - bias: `[N]`
    public init(name: String, weight: MLXArray, quantization: Quantization?, bias: MLXArray?) {
        self.name = name
        self.weight = weight
        self.quantization = quantization
        self.bias = bias
    }

    /// x · Wᵀ + bias, with plain ops.
    /// - Parameter x: [R, K]
    /// - Returns: [R, N]
    func product(_ x: MLXArray) -> MLXArray {
        let product =
            quantization.map {
                quantizedMM(
                    x, weight, scales: $0.scales, biases: $0.biases, transpose: true, groupSize: $0.groupSize,
                    bits: $0.bits, mode: $0.mode)
            } ?? matmul(x, weight.T)
        return bias.map { product + $0 } ?? product
    }
}

/// An RMS norm `[N]`.
public struct KernelNorm {
    let name: String
    let weight: MLXArray
    let epsilon: Float

    /// - Parameter name: For errors.
    public init(name: String, weight: MLXArray, epsilon: Float) {
        self.name = name
        self.weight = weight
        self.epsilon = epsilon
    }

    func callAsFunction(_ x: MLXArray) -> MLXArray { MLXFast.rmsNorm(x, weight: weight, eps: epsilon) }
}

/// Why a kernel can't be made of these weights.
public struct KernelError: Error, CustomStringConvertible {
    /// What was found and what is wanted.
    public let description: String
}

#if canImport(MLXCPU)
    extension KernelMatrix {
        var cpu: CPUMatrix {
            CPUMatrix(
                name: name, weight: weight,
                quantization: quantization.map {
                    CPUMatrix.Quantization(
                        scales: $0.scales, biases: $0.biases, groupSize: $0.groupSize, bits: $0.bits,
                        mode: $0.mode)
                },
                bias: bias)
        }
    }

    extension KernelNorm {
        var cpu: CPUNorm { CPUNorm(name: name, weight: weight, epsilon: epsilon) }
    }

    /// Makes a CPU kernel where ops run on the CPU; nil elsewhere.
    func onCPU<Kernel>(_ make: () throws -> Kernel) throws -> Kernel? {
        guard Device.defaultDevice().deviceType == .cpu else { return nil }
        do {
            return try make()
        } catch {
            throw KernelError(description: (error as? MLXError)?.errorDescription ?? "\(error)")
        }
    }
#endif
