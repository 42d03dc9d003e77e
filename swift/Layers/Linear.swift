/// y = x · Wᵀ + b, the token table that is embedding or head, and the norm: the blocks with weights of their own.

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

    /// Size and storage.
    var kind: Matrix.Kind { weight.kind }

    /// The loaded weights, for a fused kernel.
    var kernelMatrix: KernelMatrix { weight.kernelMatrix(path, bias: bias) }
}

/// A matrix with a row for each token: the embedding, the head, or both.
public final class TokenMatrix {
    private let path: String
    private let weight: Matrix
    private let activations: DType
    /// Made of the loaded weights by `prepare`.
    private var table: TokenTable?

    /// Declares `path.weight` (and `.scales`, `.biases`).
    public init(_ path: String, count: Int, width: Int, from source: any ParameterSource) throws {
        self.path = path
        weight = try Matrix(path, rows: count, columns: width, from: source)
        activations = source.activations
    }

    /// Makes the kernel; parameters must be filled.
    /// - Throws: `KernelError` when this device has no kernel for them.
    public func prepare() throws { _ = try prepared() }

    /// - Parameter tokens: [R], int32, each below `count`.
    /// - Returns: [R, width], in the dtype of activations.
    /// - Throws: `KernelError`, if `prepare` has not been called and would.
    public func rows(_ tokens: MLXArray) throws -> MLXArray { try prepared().rows(tokens).asType(activations) }

    /// As a head.
    /// - Parameter x: [R, width]
    /// - Returns: [R, count]
    public func logits(_ x: MLXArray) -> MLXArray { weight.product(x) }

    /// The best token of each row, without keeping logits.
    /// - Parameter x: [R, width]
    /// - Returns: [R, 2], uint32: the lowest token with the largest logit, and the bits of that logit as a float32.
    /// - Throws: `KernelError`, if `prepare` has not been called and would.
    public func best(_ x: MLXArray) throws -> MLXArray { try prepared().best(x) }

    private func prepared() throws -> TokenTable {
        if let table { return table }
        let made = try TokenTable(weight.kernelMatrix(path, bias: nil))
        table = made
        return made
    }
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
