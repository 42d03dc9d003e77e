// Ops on each element. Two operands broadcast against each other as in numpy; a scalar takes the array's dtype.
import CMLX

// MARK: - One operand

/// Absolute values.
public func abs(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_abs(array.handle, stream.ctx))
}

/// Arc cosine.
public func acos(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arccos(array.handle, stream.ctx))
}

/// Area hyperbolic cosine.
public func acosh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arccosh(array.handle, stream.ctx))
}

/// Arc sine.
public func asin(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arcsin(array.handle, stream.ctx))
}

/// Area hyperbolic sine.
public func asinh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arcsinh(array.handle, stream.ctx))
}

/// Arc tangent.
public func atan(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arctan(array.handle, stream.ctx))
}

/// Area hyperbolic tangent.
public func atanh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_arctanh(array.handle, stream.ctx))
}

/// All bits inverted.
public func bitwiseInvert(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_bitwise_invert(array.handle, stream.ctx))
}

/// The next integers above.
public func ceil(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_ceil(array.handle, stream.ctx))
}

/// Cosine.
public func cos(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_cos(array.handle, stream.ctx))
}

/// Hyperbolic cosine.
public func cosh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_cosh(array.handle, stream.ctx))
}

/// Error function.
public func erf(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_erf(array.handle, stream.ctx))
}

/// Inverse of the error function.
public func erfInverse(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_erfinv(array.handle, stream.ctx))
}

/// e to the power of each element.
public func exp(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_exp(array.handle, stream.ctx))
}

/// exp(x) - 1, exact near 0.
public func expm1(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_expm1(array.handle, stream.ctx))
}

/// The next integers below.
public func floor(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_floor(array.handle, stream.ctx))
}

/// Where elements are neither infinite nor NaN.
public func isFinite(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_isfinite(array.handle, stream.ctx))
}

/// Where elements are infinite.
public func isInf(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_isinf(array.handle, stream.ctx))
}

/// Where elements are NaN.
public func isNaN(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_isnan(array.handle, stream.ctx))
}

/// Where elements are minus infinity.
public func isNegInf(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_isneginf(array.handle, stream.ctx))
}

/// Where elements are plus infinity.
public func isPosInf(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_isposinf(array.handle, stream.ctx))
}

/// Natural logarithm.
public func log(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_log(array.handle, stream.ctx))
}

/// Logarithm to base 2.
public func log2(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_log2(array.handle, stream.ctx))
}

/// Logarithm to base 10.
public func log10(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_log10(array.handle, stream.ctx))
}

/// log(1 + x), exact near 0.
public func log1p(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_log1p(array.handle, stream.ctx))
}

/// Where elements are zero.
public func logicalNot(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_logical_not(array.handle, stream.ctx))
}

/// Elements with the other sign.
public func negative(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_negative(array.handle, stream.ctx))
}

/// 1 / x.
public func reciprocal(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_reciprocal(array.handle, stream.ctx))
}

/// 1 / sqrt(x).
public func rsqrt(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_rsqrt(array.handle, stream.ctx))
}

/// 1 / (1 + exp(-x)).
public func sigmoid(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sigmoid(array.handle, stream.ctx))
}

/// -1, 0 or 1.
public func sign(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sign(array.handle, stream.ctx))
}

/// Sine.
public func sin(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sin(array.handle, stream.ctx))
}

/// Hyperbolic sine.
public func sinh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sinh(array.handle, stream.ctx))
}

/// Square root.
public func sqrt(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sqrt(array.handle, stream.ctx))
}

/// x * x.
public func square(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_square(array.handle, stream.ctx))
}

/// Tangent.
public func tan(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_tan(array.handle, stream.ctx))
}

/// Hyperbolic tangent.
public func tanh(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_tanh(array.handle, stream.ctx))
}

// MARK: - Two operands

/// a + b.
public func add(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_add(a.handle, b.handle, stream.ctx))
}

/// a & b.
public func bitwiseAnd(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_bitwise_and(a.handle, b.handle, stream.ctx))
}

/// a | b.
public func bitwiseOr(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_bitwise_or(a.handle, b.handle, stream.ctx))
}

/// a ^ b.
public func bitwiseXOr(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_bitwise_xor(a.handle, b.handle, stream.ctx))
}

/// a / b.
public func divide(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_divide(a.handle, b.handle, stream.ctx))
}

/// Where a equals b.
public func equal(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_equal(a.handle, b.handle, stream.ctx))
}

/// Where a > b.
public func greater(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_greater(a.handle, b.handle, stream.ctx))
}

/// Where a >= b.
public func greaterEqual(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_greater_equal(a.handle, b.handle, stream.ctx))
}

/// a << b.
public func leftShift(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_left_shift(a.handle, b.handle, stream.ctx))
}

/// Where a < b.
public func less(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_less(a.handle, b.handle, stream.ctx))
}

/// Where a <= b.
public func lessEqual(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_less_equal(a.handle, b.handle, stream.ctx))
}

/// log(exp(a) + exp(b)), without overflow.
public func logAddExp(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_logaddexp(a.handle, b.handle, stream.ctx))
}

/// Where both are non-zero.
public func logicalAnd(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_logical_and(a.handle, b.handle, stream.ctx))
}

/// Where one is non-zero.
public func logicalOr(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_logical_or(a.handle, b.handle, stream.ctx))
}

/// The larger of both; NaN wins.
public func maximum(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_maximum(a.handle, b.handle, stream.ctx))
}

/// The smaller of both; NaN wins.
public func minimum(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_minimum(a.handle, b.handle, stream.ctx))
}

/// a * b.
public func multiply(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_multiply(a.handle, b.handle, stream.ctx))
}

/// Where a differs from b.
public func notEqual(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_not_equal(a.handle, b.handle, stream.ctx))
}

/// The remainder of a / b, with the sign of b.
public func remainder(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_remainder(a.handle, b.handle, stream.ctx))
}

/// a >> b.
public func rightShift(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_right_shift(a.handle, b.handle, stream.ctx))
}

/// a - b.
public func subtract(
    _ a: some ScalarOrArray, _ b: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let (a, b) = toArrays(a, b)
    return MLXArray(cmlx_subtract(a.handle, b.handle, stream.ctx))
}
