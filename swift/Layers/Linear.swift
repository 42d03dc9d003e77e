/// y = x · Wᵀ + b, the embedding table that may also be the head, and the norm: the blocks with weights of their own.

import Kernels
import MLX

/// A linear map, dense or quantized.
public struct Linear {
    private let path: String
    private let weight: Matrix
    private let bias: Parameter?

    /// Declares `path.weight` (and `.scales`, `.biases`, `.bias`).
    public init(
        _ path: String, inputs: Int, outputs: Int, bias: Bool = false, from source: any ParameterSource
    ) throws {
        self.path = path
        weight = try Matrix(path, rows: outputs, columns: inputs, from: source)
        self.bias = bias ? try source.parameter("\(path).bias", shape: [outputs], kind: .vector) : nil
    }

    /// - Parameter x: [R, inputs]
    /// - Returns: [R, outputs]
    public func callAsFunction(_ x: MLXArray) -> MLXArray {
        let product = weight.product(x)
        guard let bias else { return product }
        return product + bias.array
    }

    /// The loaded weights, for a fused kernel.
    var kernelMatrix: KernelMatrix { weight.kernelMatrix(path, bias: bias) }
}

/// Token embedding; with tied weights also the head.
public struct Embedding {
    private let weight: Matrix
    private let activations: DType

    /// Declares `path.weight` (and `.scales`, `.biases`).
    public init(_ path: String, count: Int, width: Int, from source: any ParameterSource) throws {
        weight = try Matrix(path, rows: count, columns: width, from: source)
        activations = source.activations
    }

    /// - Parameter tokens: [R], int32, each below `count`.
    /// - Returns: [R, width], in the dtype of activations.
    public func callAsFunction(_ tokens: MLXArray) -> MLXArray { weight.rows(tokens).asType(activations) }

    /// The table as a head.
    /// - Parameter x: [R, width]
    /// - Returns: [R, count]
    public func head(_ x: MLXArray) -> MLXArray { weight.product(x) }
}

/// x / rms(x) * weight over the last axis, taken in float32 inside.
public struct RMSNorm {
    private let weight: Parameter
    private let epsilon: Float

    /// Declares `path.weight`.
    public init(_ path: String, width: Int, epsilon: Float, from source: any ParameterSource) throws {
        weight = try source.parameter("\(path).weight", shape: [width], kind: .vector)
        self.epsilon = epsilon
    }

    /// - Parameter x: [..., width]
    /// - Returns: Same shape and dtype.
    public func callAsFunction(_ x: MLXArray) -> MLXArray {
        MLXFast.rmsNorm(x, weight: weight.array, eps: epsilon)
    }

    /// The loaded weights, for a fused kernel.
    var kernelNorm: KernelNorm { KernelNorm(name: weight.name, weight: weight.array, epsilon: epsilon) }
}
