// Ops that pick elements by position or order.
import CMLX

/// The elements at these positions of an axis, in the indices' shape.
public func take(
    _ array: MLXArray, _ indices: MLXArray, axis: Int, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_take(array.handle, indices.handle, axis.int32, stream.ctx))
}

/// The elements at these positions of the flattened array.
public func take(_ array: MLXArray, _ indices: MLXArray, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_take_flat(array.handle, indices.handle, stream.ctx))
}

/// For each place of `indices`, the element of the array at that place with the position of `axis` exchanged.
public func takeAlong(
    _ array: MLXArray, _ indices: MLXArray, axis: Int, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_take_along_axis(array.handle, indices.handle, axis.int32, stream.ctx))
}

/// The elements at these positions of the flattened array.
public func takeAlong(_ array: MLXArray, _ indices: MLXArray, stream: StreamOrDevice = .default)
    -> MLXArray
{
    takeAlong(array.reshaped([-1], stream: stream), indices, axis: 0, stream: stream)
}

/// The array with `values` at the places that `takeAlong` would read.
public func putAlong(
    _ array: MLXArray, _ indices: MLXArray, values: MLXArray, axis: Int,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_put_along_axis(array.handle, indices.handle, values.handle, axis.int32, stream.ctx))
}

/// The array with `values` at these positions of the flattened array.
public func putAlong(
    _ array: MLXArray, _ indices: MLXArray, values: MLXArray, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    let flat = array.reshaped([-1], stream: stream)
    return putAlong(flat, indices, values: values, axis: 0, stream: stream)
        .reshaped(array.shape, stream: stream)
}

/// Positions that sort an axis, as uint32.
public func argSort(_ array: MLXArray, axis: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_argsort(array.handle, axis.int32, stream.ctx))
}

/// Positions that sort the flattened array, as uint32.
public func argSort(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_argsort_flat(array.handle, stream.ctx))
}

/// An axis in ascending order.
public func sorted(_ array: MLXArray, axis: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sort(array.handle, axis.int32, stream.ctx))
}

/// The flattened array in ascending order.
public func sorted(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_sort_flat(array.handle, stream.ctx))
}

/// Positions, as uint32, that bring the element of rank `kth` to its place, smaller ones before it, larger ones after.
public func argPartition(_ array: MLXArray, kth: Int, axis: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_argpartition(array.handle, kth.int32, axis.int32, stream.ctx))
}

/// The same for the flattened array.
public func argPartition(_ array: MLXArray, kth: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_argpartition_flat(array.handle, kth.int32, stream.ctx))
}

/// An axis with the element of rank `kth` at its place, smaller ones before it, larger ones after.
public func partitioned(_ array: MLXArray, kth: Int, axis: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_partition(array.handle, kth.int32, axis.int32, stream.ctx))
}

/// The same for the flattened array.
public func partitioned(_ array: MLXArray, kth: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_partition_flat(array.handle, kth.int32, stream.ctx))
}

/// The `k` largest elements of an axis, in no order.
public func top(_ array: MLXArray, k: Int, axis: Int = -1, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_topk(array.handle, k.int32, axis.int32, stream.ctx))
}

/// The `k` largest elements of the flattened array, in no order.
public func top(_ array: MLXArray, k: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_topk_flat(array.handle, k.int32, stream.ctx))
}

/// The array with zeros above diagonal `k`.
public func tril(_ array: MLXArray, k: Int = 0, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_tril(array.handle, k.int32, stream.ctx))
}

/// The array with zeros below diagonal `k`.
public func triu(_ array: MLXArray, k: Int = 0, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_triu(array.handle, k.int32, stream.ctx))
}

/// The diagonal of a matrix, or a matrix with this diagonal.
public func diag(_ array: MLXArray, k: Int = 0, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_diag(array.handle, k.int32, stream.ctx))
}
