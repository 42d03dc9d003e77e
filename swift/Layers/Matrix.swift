/// A weight matrix, dense or quantized: the one place that knows the difference.
///
/// Used by `Linear` and `Embedding`. Rows of a product depend on that row alone (docs/design/0004): which kernel runs
/// is chosen by the matrix, never by the number of rows.

import Kernels
import MLX

/// A `[rows, columns]` weight.
public enum Matrix {
    /// Float `[rows, columns]`.
    case dense(Parameter)
    /// Packed uint32 `[rows, columns * bits / 32]`; scales and, if affine, biases `[rows, columns / group]`.
    case quantized(packed: Parameter, scales: Parameter, biases: Parameter?, Quantization)

    /// Declares the tensors of the module at `path`.
    /// - Throws: When the checkpoint does not hold them in this shape.
    public init(_ path: String, rows: Int, columns: Int, from source: any ParameterSource) throws {
        if let quantization = try source.quantization(of: path) {
            let group = quantization.groupSize
            guard columns % group == 0 else {
                throw CheckpointError(
                    .model, "\(path): \(columns) columns are not a multiple of the quantization group \(group)")
            }
            let words = columns / 32 * quantization.bits
            let groups = [rows, columns / group]
            self = .quantized(
                packed: try source.parameter("\(path).weight", shape: [rows, words], kind: .packed),
                scales: try source.parameter(
                    "\(path).scales", shape: groups, kind: quantization.isAffine ? .scales : .exponents),
                biases: quantization.isAffine
                    ? try source.parameter("\(path).biases", shape: groups, kind: .scales) : nil,
                quantization)
        } else {
            self = .dense(try source.parameter("\(path).weight", shape: [rows, columns], kind: .matrix))
        }
    }

    /// Rows and columns of the matrix, not of its tensors.
    public var shape: (rows: Int, columns: Int) {
        switch self {
        case .dense(let weight): (weight.shape[0], weight.shape[1])
        case .quantized(_, let scales, _, let quantization):
            (scales.shape[0], scales.shape[1] * quantization.groupSize)
        }
    }

    /// Nil: dense.
    public var quantization: Quantization? {
        switch self {
        case .dense: nil
        case .quantized(_, _, _, let quantization): quantization
        }
    }

    /// Size and storage: what decides which kernel runs.
    public struct Kind: Hashable, Sendable {
        let rows: Int
        let columns: Int
        let quantization: Quantization?
    }

    /// Of this matrix.
    public var kind: Kind { Kind(rows: shape.rows, columns: shape.columns, quantization: quantization) }

    /// x · Wᵀ.
    /// - Parameter x: [R, columns]
    /// - Returns: [R, rows], in the wider dtype of the two.
    public func product(_ x: MLXArray) -> MLXArray {
        switch self {
        case .dense(let weight):
            return matmul(x, weight.array.T)
        case .quantized(let packed, let scales, let biases, let quantization):
            return quantizedMM(
                x, packed.array, scales: scales.array, biases: biases?.array, transpose: true,
                groupSize: quantization.groupSize, bits: quantization.bits, mode: quantization.mode)
        }
    }

    /// The loaded tensors, for a fused kernel.
    func kernelMatrix(_ name: String, bias: Parameter?) -> KernelMatrix {
        switch self {
        case .dense(let weight):
            return KernelMatrix(name: name, weight: weight.array, quantization: nil, bias: bias?.array)
        case .quantized(let packed, let scales, let biases, let quantization):
            let stored = KernelMatrix.Quantization(
                scales: scales.array, biases: biases?.array, groupSize: quantization.groupSize, bits: quantization.bits,
                mode: quantization.mode)
            return KernelMatrix(name: name, weight: packed.array, quantization: stored, bias: bias?.array)
        }
    }

    /// Rows of the matrix.
    /// - Parameter indices: [R], int32, all within `rows`.
    /// - Returns: [R, columns], in the dtype that the matrix is kept in.
    public func rows(_ indices: MLXArray) -> MLXArray {
        switch self {
        case .dense(let weight):
            return weight.array.take(indices, axis: 0)
        case .quantized(let packed, let scales, let biases, let quantization):
            return dequantized(
                packed.array.take(indices, axis: 0), scales: scales.array.take(indices, axis: 0),
                biases: biases?.array.take(indices, axis: 0), groupSize: quantization.groupSize,
                bits: quantization.bits, mode: quantization.mode)
        }
    }
}
