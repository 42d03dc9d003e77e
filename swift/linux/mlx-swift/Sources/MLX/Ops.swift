// Ops on elements that have parameters of their own.
import CMLX

/// a to the power of b.
public func pow(_ array: MLXArray, _ other: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_power(array.handle, other.handle, stream.ctx))
}

/// a to the power of b.
public func pow(_ array: MLXArray, _ other: some ScalarOrArray, stream: StreamOrDevice = .default)
    -> MLXArray
{
    pow(array, other.asMLXArray(dtype: array.dtype), stream: stream)
}

/// a to the power of b.
public func pow(_ array: some ScalarOrArray, _ other: MLXArray, stream: StreamOrDevice = .default)
    -> MLXArray
{
    pow(array.asMLXArray(dtype: other.dtype), other, stream: stream)
}

/// The quotient, rounded down.
public func floorDivide(
    _ array: MLXArray, _ other: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let other = other.asMLXArray(dtype: array.dtype)
    return MLXArray(cmlx_floor_divide(array.handle, other.handle, stream.ctx))
}

/// Elements rounded to a number of decimals, halves to even.
public func round(_ array: MLXArray, decimals: Int = 0, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_round(array.handle, decimals.int32, stream.ctx))
}

/// Elements that are at least `min`.
public func clip(
    _ array: MLXArray, min: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (array, min) = toArrays(array, min)
    return MLXArray(cmlx_clip(array.handle, min.handle, nil, stream.ctx))
}

/// Elements that are at least `min` and at most `max`.
public func clip(
    _ array: MLXArray, min: some ScalarOrArray, max: some ScalarOrArray,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let (array, min) = toArrays(array, min)
    let (_, max) = toArrays(array, max)
    return MLXArray(cmlx_clip(array.handle, min.handle, max.handle, stream.ctx))
}

/// Elements that are at most `max`.
public func clip(_ array: MLXArray, max: some ScalarOrArray, stream: StreamOrDevice = .default)
    -> MLXArray
{
    let (array, max) = toArrays(array, max)
    return MLXArray(cmlx_clip(array.handle, nil, max.handle, stream.ctx))
}

/// Elements of `a` where the condition holds, else of `b`.
public func `where`(
    _ condition: MLXArray, _ a: some ScalarOrArray, _ b: some ScalarOrArray,
    stream: StreamOrDevice = .default
) -> MLXArray {
    which(condition, a, b, stream: stream)
}

/// Elements of `a` where the condition holds, else of `b`.
public func which(
    _ condition: MLXArray, _ a: some ScalarOrArray, _ b: some ScalarOrArray,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_where(condition.handle, a.handle, b.handle, stream.ctx))
}

/// exp(x) / sum(exp(x)) over some axes; `precise` sums in float32.
public func softmax(
    _ array: MLXArray, axes: some Collection<Int>, precise: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_softmax(array.handle, axes.asInt32, axes.count, precise, stream.ctx))
}

/// exp(x) / sum(exp(x)) over one axis; `precise` sums in float32.
public func softmax(
    _ array: MLXArray, axis: Int, precise: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_softmax(array.handle, [axis.int32], 1, precise, stream.ctx))
}

/// exp(x) / sum(exp(x)) over all axes; `precise` sums in float32.
public func softmax(_ array: MLXArray, precise: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_softmax_all(array.handle, precise, stream.ctx))
}

/// NaN and infinities replaced; without a number for an infinity, by the largest finite one.
public func nanToNum(
    _ array: MLXArray,
    nan: Float = 0, posInf: Float? = 0, negInf: Float? = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_nan_to_num(array.handle, nan, optional(posInf), optional(negInf), stream.ctx))
}

/// Whether |a - b| <= atol + rtol * |b| everywhere; a bool scalar.
public func allClose(
    _ array: MLXArray, _ other: some ScalarOrArray, rtol: Double = 1e-5, atol: Double = 1e-8,
    equalNaN: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    let other = other.asMLXArray(dtype: array.dtype)
    return MLXArray(cmlx_allclose(array.handle, other.handle, rtol, atol, equalNaN, stream.ctx))
}

/// Where |a - b| <= atol + rtol * |b|.
public func isClose(
    _ a: MLXArray, _ b: MLXArray, rtol: Double = 1e-5, atol: Double = 1e-8, equalNaN: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_isclose(a.handle, b.handle, rtol, atol, equalNaN, stream.ctx))
}

/// Whether both have the same shape and elements; a bool scalar.
public func arrayEqual(
    _ array: MLXArray, _ other: some ScalarOrArray, equalNAN: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let other = other.asMLXArray(dtype: array.dtype)
    return MLXArray(cmlx_array_equal(array.handle, other.handle, equalNAN, stream.ctx))
}

/// An optional number as the C side takes it.
func optional(_ value: Float?) -> cmlx_optional_float {
    cmlx_optional_float(value: value ?? 0, has_value: value != nil)
}

/// An optional number as the C side takes it.
func optional(_ value: Int?) -> cmlx_optional_int {
    cmlx_optional_int(value: (value ?? 0).int32, has_value: value != nil)
}
