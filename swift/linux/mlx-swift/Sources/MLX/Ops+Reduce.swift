// Ops that reduce axes, and running ones. Axes may be negative; `keepDims` leaves reduced axes with length 1.
import CMLX

/// Whether all elements are non-zero over some axes.
public func all(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_all(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// Whether all elements are non-zero over one axis.
public func all(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_all(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// Whether all elements are non-zero over all axes.
public func all(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_all_all(array.handle, keepDims, stream.ctx))
}

/// Whether one element is non-zero over some axes.
public func any(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_any(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// Whether one element is non-zero over one axis.
public func any(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_any(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// Whether one element is non-zero over all axes.
public func any(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_any_all(array.handle, keepDims, stream.ctx))
}

/// log(sum(exp(x))) over some axes.
public func logSumExp(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_logsumexp(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// log(sum(exp(x))) over one axis.
public func logSumExp(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_logsumexp(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// log(sum(exp(x))) over all axes.
public func logSumExp(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_logsumexp_all(array.handle, keepDims, stream.ctx))
}

/// The largest element over some axes.
public func max(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_max(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// The largest element over one axis.
public func max(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_max(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// The largest element over all axes.
public func max(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_max_all(array.handle, keepDims, stream.ctx))
}

/// The mean over some axes.
public func mean(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_mean(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// The mean over one axis.
public func mean(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_mean(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// The mean over all axes.
public func mean(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_mean_all(array.handle, keepDims, stream.ctx))
}

/// The smallest element over some axes.
public func min(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_min(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// The smallest element over one axis.
public func min(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_min(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// The smallest element over all axes.
public func min(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_min_all(array.handle, keepDims, stream.ctx))
}

/// The product over some axes.
public func product(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_prod(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// The product over one axis.
public func product(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_prod(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// The product over all axes.
public func product(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_prod_all(array.handle, keepDims, stream.ctx))
}

/// The sum over some axes.
public func sum(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_sum(array.handle, axes.asInt32, axes.count, keepDims, stream.ctx))
}

/// The sum over one axis.
public func sum(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_sum(array.handle, [axis.int32], 1, keepDims, stream.ctx))
}

/// The sum over all axes.
public func sum(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_sum_all(array.handle, keepDims, stream.ctx))
}

/// Positions of the largest elements along an axis, as uint32.
public func argMax(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_argmax(array.handle, axis.int32, keepDims, stream.ctx))
}

/// Positions of the largest elements of the flattened array, as uint32.
public func argMax(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_argmax_all(array.handle, keepDims, stream.ctx))
}

/// Positions of the smallest elements along an axis, as uint32.
public func argMin(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_argmin(array.handle, axis.int32, keepDims, stream.ctx))
}

/// Positions of the smallest elements of the flattened array, as uint32.
public func argMin(_ array: MLXArray, keepDims: Bool = false, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_argmin_all(array.handle, keepDims, stream.ctx))
}

/// The standard deviation over some axes, divided by the count - `ddof`.
public func std(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false, ddof: Int = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_std(array.handle, axes.asInt32, axes.count, keepDims, ddof.int32, stream.ctx))
}

/// The standard deviation over one axis, divided by the count - `ddof`.
public func std(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, ddof: Int = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_std(array.handle, [axis.int32], 1, keepDims, ddof.int32, stream.ctx))
}

/// The standard deviation over all axes, divided by the count - `ddof`.
public func std(
    _ array: MLXArray, keepDims: Bool = false, ddof: Int = 0, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_std_all(array.handle, keepDims, ddof.int32, stream.ctx))
}

/// The variance over some axes, divided by the count - `ddof`.
public func variance(
    _ array: MLXArray, axes: some Collection<Int>, keepDims: Bool = false, ddof: Int = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_var(array.handle, axes.asInt32, axes.count, keepDims, ddof.int32, stream.ctx))
}

/// The variance over one axis, divided by the count - `ddof`.
public func variance(
    _ array: MLXArray, axis: Int, keepDims: Bool = false, ddof: Int = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_var(array.handle, [axis.int32], 1, keepDims, ddof.int32, stream.ctx))
}

/// The variance over all axes, divided by the count - `ddof`.
public func variance(
    _ array: MLXArray, keepDims: Bool = false, ddof: Int = 0, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_var_all(array.handle, keepDims, ddof.int32, stream.ctx))
}

/// Running maximum along an axis; `reverse` starts at the end, without `inclusive` an element doesn't count itself.
public func cummax(
    _ array: MLXArray, axis: Int, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_cummax(array.handle, axis.int32, reverse, inclusive, stream.ctx))
}

/// Running maximum of the flattened array.
public func cummax(
    _ array: MLXArray, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    cummax(array.reshaped([-1], stream: stream), axis: 0, reverse: reverse, inclusive: inclusive, stream: stream)
}

/// Running minimum along an axis; `reverse` starts at the end, without `inclusive` an element doesn't count itself.
public func cummin(
    _ array: MLXArray, axis: Int, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_cummin(array.handle, axis.int32, reverse, inclusive, stream.ctx))
}

/// Running minimum of the flattened array.
public func cummin(
    _ array: MLXArray, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    cummin(array.reshaped([-1], stream: stream), axis: 0, reverse: reverse, inclusive: inclusive, stream: stream)
}

/// Running product along an axis; `reverse` starts at the end, without `inclusive` an element doesn't count itself.
public func cumprod(
    _ array: MLXArray, axis: Int, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_cumprod(array.handle, axis.int32, reverse, inclusive, stream.ctx))
}

/// Running product of the flattened array.
public func cumprod(
    _ array: MLXArray, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    cumprod(array.reshaped([-1], stream: stream), axis: 0, reverse: reverse, inclusive: inclusive, stream: stream)
}

/// Running sum along an axis; `reverse` starts at the end, without `inclusive` an element doesn't count itself.
public func cumsum(
    _ array: MLXArray, axis: Int, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_cumsum(array.handle, axis.int32, reverse, inclusive, stream.ctx))
}

/// Running sum of the flattened array.
public func cumsum(
    _ array: MLXArray, reverse: Bool = false, inclusive: Bool = true,
    stream: StreamOrDevice = .default
) -> MLXArray {
    cumsum(array.reshaped([-1], stream: stream), axis: 0, reverse: reverse, inclusive: inclusive, stream: stream)
}
