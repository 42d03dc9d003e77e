// Operators. Each has an array on at least one side; a scalar on the other takes the array's dtype. Comparisons begin
// with a dot, because they give arrays of bool.
import CMLX

infix operator ** : BitwiseShiftPrecedence
infix operator .&& : LogicalConjunctionPrecedence
infix operator .|| : LogicalDisjunctionPrecedence

extension MLXArray {
    /// Sum.
    public static func + (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_add(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Sum.
    public static func + (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs + rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Sum.
    public static func + (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) + rhs
    }

    /// Sum. The object stands for the result.
    public static func += (lhs: inout MLXArray, rhs: MLXArray) {
        lhs._updateInternal(lhs + rhs)
    }

    /// Sum. The object stands for the result.
    public static func += (lhs: inout MLXArray, rhs: some ScalarOrArray) {
        lhs += rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Difference.
    public static func - (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_subtract(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Difference.
    public static func - (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs - rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Difference.
    public static func - (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) - rhs
    }

    /// Difference. The object stands for the result.
    public static func -= (lhs: inout MLXArray, rhs: MLXArray) {
        lhs._updateInternal(lhs - rhs)
    }

    /// Difference. The object stands for the result.
    public static func -= (lhs: inout MLXArray, rhs: some ScalarOrArray) {
        lhs -= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Product.
    public static func * (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_multiply(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Product.
    public static func * (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs * rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Product.
    public static func * (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) * rhs
    }

    /// Product. The object stands for the result.
    public static func *= (lhs: inout MLXArray, rhs: MLXArray) {
        lhs._updateInternal(lhs * rhs)
    }

    /// Product. The object stands for the result.
    public static func *= (lhs: inout MLXArray, rhs: some ScalarOrArray) {
        lhs *= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Quotient.
    public static func / (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_divide(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Quotient.
    public static func / (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs / rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Quotient.
    public static func / (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) / rhs
    }

    /// Quotient. The object stands for the result.
    public static func /= (lhs: inout MLXArray, rhs: MLXArray) {
        lhs._updateInternal(lhs / rhs)
    }

    /// Quotient. The object stands for the result.
    public static func /= (lhs: inout MLXArray, rhs: some ScalarOrArray) {
        lhs /= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Power.
    public static func ** (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_power(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Power.
    public static func ** (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs ** rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Power.
    public static func ** (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) ** rhs
    }

    /// Remainder, with the sign of the right side.
    public static func % (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_remainder(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Remainder, with the sign of the right side.
    public static func % (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs % rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Remainder, with the sign of the right side.
    public static func % (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) % rhs
    }

    /// Where both are equal.
    public static func .== (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_equal(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where both are equal.
    public static func .== (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .== rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where both differ.
    public static func .!= (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_not_equal(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where both differ.
    public static func .!= (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .!= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where the left is smaller.
    public static func .< (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_less(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where the left is smaller.
    public static func .< (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .< rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where the left is not larger.
    public static func .<= (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_less_equal(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where the left is not larger.
    public static func .<= (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .<= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where the left is larger.
    public static func .> (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_greater(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where the left is larger.
    public static func .> (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .> rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where the left is not smaller.
    public static func .>= (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_greater_equal(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where the left is not smaller.
    public static func .>= (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs .>= rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Where both are non-zero.
    public static func .&& (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_logical_and(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where one is non-zero.
    public static func .|| (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_logical_or(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits in both.
    public static func & (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_bitwise_and(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits in both.
    public static func & (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs & rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Bits in both.
    public static func & (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) & rhs
    }

    /// Bits in one.
    public static func | (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_bitwise_or(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits in one.
    public static func | (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs | rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Bits in one.
    public static func | (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) | rhs
    }

    /// Bits in exactly one.
    public static func ^ (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_bitwise_xor(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits in exactly one.
    public static func ^ (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs ^ rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Bits in exactly one.
    public static func ^ (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) ^ rhs
    }

    /// Bits moved up.
    public static func << (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_left_shift(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits moved up.
    public static func << (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs << rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Bits moved up.
    public static func << (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) << rhs
    }

    /// Bits moved down.
    public static func >> (lhs: MLXArray, rhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_right_shift(lhs.handle, rhs.handle, StreamOrDevice.default.ctx))
    }

    /// Bits moved down.
    public static func >> (lhs: MLXArray, rhs: some ScalarOrArray) -> MLXArray {
        lhs >> rhs.asMLXArray(dtype: lhs.dtype)
    }

    /// Bits moved down.
    public static func >> (lhs: some ScalarOrArray, rhs: MLXArray) -> MLXArray {
        lhs.asMLXArray(dtype: rhs.dtype) >> rhs
    }

    /// The other sign.
    public static prefix func - (lhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_negative(lhs.handle, StreamOrDevice.default.ctx))
    }

    /// Where elements are zero.
    public static prefix func .! (lhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_logical_not(lhs.handle, StreamOrDevice.default.ctx))
    }

    /// All bits inverted.
    public static prefix func ~ (lhs: MLXArray) -> MLXArray {
        MLXArray(cmlx_bitwise_invert(lhs.handle, StreamOrDevice.default.ctx))
    }
}
