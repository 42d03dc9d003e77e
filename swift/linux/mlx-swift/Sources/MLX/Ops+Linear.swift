// Products: of matrices, of quantized matrices, convolutions. Quantized weights are in MLX's layout: rows of uint32
// words that hold elements of `bits` bits, low bits first, and one scale (and bias) for each group of `groupSize`
// elements.
import CMLX

/// The matrix product over the last two axes; the others broadcast.
public func matmul(_ a: MLXArray, _ b: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_matmul(a.handle, b.handle, stream.ctx))
}

/// beta * c + alpha * (a @ b).
public func addMM(
    _ c: some ScalarOrArray, _ a: some ScalarOrArray, _ b: some ScalarOrArray, alpha: Float = 1.0,
    beta: Float = 1.0, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    let (_, c) = toArrays(a, c)
    return MLXArray(cmlx_addmm(c.handle, a.handle, b.handle, alpha, beta, stream.ctx))
}

/// Sum over products of the last axis with the last axis.
public func inner(
    _ a: MLXArray, _ b: MLXArray, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_inner(a.handle, b.handle, stream.ctx))
}

/// Products of all pairs of elements.
public func outer(
    _ a: MLXArray, _ b: MLXArray, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_outer(a.handle, b.handle, stream.ctx))
}

/// Sum over products of `axes` axes at the end of `a` and the start of `b`.
public func tensordot(
    _ a: MLXArray, _ b: MLXArray, axes: Int = 1, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_tensordot(a.handle, b.handle, axes.int32, stream.ctx))
}

/// A sum of products in Einstein's notation.
public func einsum(_ subscripts: String, _ operands: MLXArray..., stream: StreamOrDevice = .default)
    -> MLXArray
{
    einsum(subscripts, operands: operands, stream: stream)
}

/// A sum of products in Einstein's notation.
public func einsum(
    _ subscripts: String, operands: some Collection<MLXArray>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    withExtendedLifetime(operands) {
        MLXArray(cmlx_einsum(subscripts, operands.handles, operands.count, stream.ctx))
    }
}

/// Matrix products of `a[lhsIndices]` and `b[rhsIndices]`, where the indices run over the flattened leading axes.
public func gatherMM(
    _ a: MLXArray, _ b: MLXArray, lhsIndices: MLXArray? = nil, rhsIndices: MLXArray? = nil,
    sortedIndices: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(
        cmlx_gather_mm(a.handle, b.handle, lhsIndices?.handle, rhsIndices?.handle, sortedIndices, stream.ctx))
}

/// The Hadamard transform of the last axis, times `scale` (1 / sqrt(n) if absent).
public func hadamardTransform(
    _ array: MLXArray, scale: Float? = nil, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_hadamard_transform(array.handle, optional(scale), stream.ctx))
}

// MARK: - Quantized

/// How weights are quantized.
public enum QuantizationMode: String, Codable, Sendable {
    /// scale * q + bias; a scale and a bias in the weight's type for each group.
    case affine
    /// 4-bit floats, groups of 32, 8-bit exponents as scales.
    case mxfp4
    /// 8-bit floats, groups of 32, 8-bit exponents as scales.
    case mxfp8
    /// 4-bit floats, groups of 16, 8-bit floats as scales.
    case nvfp4
}

/// The weight `[..., C]` quantized along its last axis; biases only in mode affine.
public func quantized(
    _ w: MLXArray,
    groupSize: Int? = nil, bits: Int? = nil,
    mode: QuantizationMode = .affine,
    globalScale: MLXArray? = nil,
    stream: StreamOrDevice = .default
) -> (wq: MLXArray, scales: MLXArray, biases: MLXArray?) {
    let parts = arrays(
        cmlx_quantize(
            w.handle, optional(groupSize), optional(bits), mode.rawValue, globalScale?.handle, stream.ctx))
    guard parts.count >= 2 else { return (.mlxNone, .mlxNone, nil) }
    return (parts[0], parts[1], parts.count > 2 ? parts[2] : nil)
}

/// The weight that was quantized.
public func dequantized(
    _ w: MLXArray,
    scales: MLXArray, biases: MLXArray?,
    groupSize: Int? = nil, bits: Int? = nil, mode: QuantizationMode = .affine,
    globalScale: MLXArray? = nil,
    dtype: DType? = nil,
    stream: StreamOrDevice = .default
) -> MLXArray {
    func call(_ code: UnsafePointer<cmlx_dtype>?) -> MLXArray {
        MLXArray(
            cmlx_dequantize(
                w.handle, scales.handle, biases?.handle, optional(groupSize), optional(bits), mode.rawValue,
                globalScale?.handle, code, stream.ctx))
    }
    guard let dtype else { return call(nil) }
    return withUnsafePointer(to: dtype.code) { call($0) }
}

/// x `[..., C]` times a quantized weight `[O, C]` (transposed) or `[C, O]`.
public func quantizedMM(
    _ x: MLXArray, _ w: MLXArray, scales: MLXArray, biases: MLXArray?,
    transpose: Bool = true,
    groupSize: Int? = nil, bits: Int? = nil,
    mode: QuantizationMode = .affine,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(
        cmlx_quantized_matmul(
            x.handle, w.handle, scales.handle, biases?.handle, transpose, optional(groupSize), optional(bits),
            mode.rawValue, stream.ctx))
}

/// Products of `x[lhsIndices]` and quantized weights `w[rhsIndices]` (experts), where the indices run over the leading
/// axes. `sortedIndices`: rhsIndices ascend.
public func gatherQuantizedMM(
    _ x: MLXArray, _ w: MLXArray, scales: MLXArray, biases: MLXArray?,
    lhsIndices: MLXArray? = nil, rhsIndices: MLXArray? = nil,
    transpose: Bool = true, groupSize: Int? = nil, bits: Int? = nil,
    mode: QuantizationMode = .affine,
    sortedIndices: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(
        cmlx_gather_qmm(
            x.handle, w.handle, scales.handle, biases?.handle, lhsIndices?.handle, rhsIndices?.handle, transpose,
            optional(groupSize), optional(bits), mode.rawValue, sortedIndices, stream.ctx))
}

/// x, quantized on the way, times a weight `[O, C]` that may be quantized.
public func quantizedQuantizedMM(
    _ x: MLXArray, _ w: MLXArray, scales: MLXArray?,
    groupSize: Int? = nil, bits: Int? = nil,
    mode: QuantizationMode = .nvfp4,
    globalScaleX: MLXArray? = nil,
    globalScaleW: MLXArray? = nil,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(
        cmlx_qqmm(
            x.handle, w.handle, scales?.handle, optional(groupSize), optional(bits), mode.rawValue,
            globalScaleX?.handle, globalScaleW?.handle, stream.ctx))
}

// MARK: - Convolutions: channels last

/// x `[N, L, C]` with a weight `[O, K, C / groups]`.
public func conv1d(
    _ array: MLXArray, _ weight: MLXArray, stride: Int = 1, padding: Int = 0, dilation: Int = 1,
    groups: Int = 1, stream: StreamOrDevice = .default
) -> MLXArray {
    conv(array, weight, [stride], [padding], [dilation], groups, stream)
}

/// x `[N, H, W, C]` with a weight `[O, KH, KW, C / groups]`.
public func conv2d(
    _ array: MLXArray, _ weight: MLXArray, stride: IntOrPair = 1, padding: IntOrPair = 0,
    dilation: IntOrPair = 1, groups: Int = 1, stream: StreamOrDevice = .default
) -> MLXArray {
    conv(
        array, weight, [stride.first, stride.second], [padding.first, padding.second],
        [dilation.first, dilation.second], groups, stream)
}

/// x `[N, D, H, W, C]` with a weight `[O, KD, KH, KW, C / groups]`.
public func conv3d(
    _ array: MLXArray, _ weight: MLXArray, stride: IntOrTriple = 1, padding: IntOrTriple = 0,
    dilation: IntOrTriple = 1, groups: Int = 1, stream: StreamOrDevice = .default
) -> MLXArray {
    conv(
        array, weight, [stride.first, stride.second, stride.third],
        [padding.first, padding.second, padding.third], [dilation.first, dilation.second, dilation.third],
        groups, stream)
}

private func conv(
    _ array: MLXArray, _ weight: MLXArray, _ stride: [Int], _ padding: [Int], _ dilation: [Int], _ groups: Int,
    _ stream: StreamOrDevice
) -> MLXArray {
    MLXArray(
        cmlx_conv(
            array.handle, weight.handle, stride.asInt32, padding.asInt32, dilation.asInt32, stride.count,
            groups.int32, stream.ctx))
}
