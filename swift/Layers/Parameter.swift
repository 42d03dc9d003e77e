/// Tensors that a graph asks for while it is built, and gets once all of them have passed their checks.
///
/// Building a graph only declares: each parameter's name, shape and kind go to the source, which compares them with the
/// file headers. Nothing is read and no memory is taken until the whole list is known to be right; then the loader
/// fills the parameters one by one. The same declaration prices a model without loading it.

import MLX

/// One tensor of a graph.
public final class Parameter {
    /// What a tensor's elements are.
    public enum Kind: Sendable {
        /// Floats of a matrix. A product may widen them as it reads.
        case matrix
        /// Scales and biases of a quantized matrix: as `matrix`, and all of them are finite.
        case scales
        /// Bytes that are exponents of two: scales of mxfp4 and mxfp8. None is the NaN, 255.
        case exponents
        /// Floats of a norm or a bias, all finite; loaded as the dtype of activations.
        case vector
        /// uint32 words of packed quantized elements.
        case packed
    }

    /// As in the checkpoint, e.g. `model.layers.0.mlp.up_proj.weight`.
    public let name: String
    /// As declared.
    public let shape: [Int]
    /// What the elements are.
    public let kind: Kind
    /// The tensor; empty until it is filled.
    public private(set) var array: MLXArray = .mlxNone

    /// Declares a tensor.
    public init(_ name: String, shape: [Int], kind: Kind) {
        self.name = name
        self.shape = shape
        self.kind = kind
    }

    /// Takes the tensor that was read. The loader has checked shape and dtype.
    public func fill(_ array: MLXArray) { self.array = array }
}

/// Where a graph's parameters come from.
public protocol ParameterSource: AnyObject {
    /// Declares a tensor. The first floats declared (a graph begins with its embedding) are of the checkpoint's dtype.
    /// - Throws: `CheckpointError` when the checkpoint lacks it or has another shape or dtype.
    func parameter(_ name: String, shape: [Int], kind: Parameter.Kind) throws -> Parameter
    /// How the module at `path` is stored; nil: dense.
    func quantization(of path: String) throws -> Quantization?
    /// Dtype of activations; asked for once the embedding is declared.
    var activations: DType { get }
}
