// Ops that change shape, order or place and no value. Axes may be negative.
import CMLX

/// The elements in another shape; one length may be -1.
public func reshaped(
    _ array: MLXArray, _ newShape: some Collection<Int>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    MLXArray(cmlx_reshape(array.handle, newShape.asInt32, newShape.count, stream.ctx))
}

/// The elements in another shape; one length may be -1.
public func reshaped(_ array: MLXArray, _ newShape: Int..., stream: StreamOrDevice = .default)
    -> MLXArray
{
    reshaped(array, newShape, stream: stream)
}

/// The axes in another order.
public func transposed(
    _ array: MLXArray, axes: some Collection<Int>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    MLXArray(cmlx_transpose_axes(array.handle, axes.asInt32, axes.count, stream.ctx))
}

/// The axes in another order.
public func transposed(_ array: MLXArray, _ axes: Int..., stream: StreamOrDevice = .default)
    -> MLXArray
{
    transposed(array, axes: axes, stream: stream)
}

/// The axes in reverse order.
public func transposed(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_transpose(array.handle, stream.ctx))
}

/// Two axes exchanged.
public func swappedAxes(
    _ array: MLXArray, _ axis1: Int, _ axis2: Int, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_swapaxes(array.handle, axis1.int32, axis2.int32, stream.ctx))
}

/// One axis moved to another place.
public func movedAxis(
    _ array: MLXArray, source: Int, destination: Int, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_moveaxis(array.handle, source.int32, destination.int32, stream.ctx))
}

/// New axes of length 1 at these places of the result.
public func expandedDimensions(
    _ array: MLXArray, axes: some Collection<Int>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    MLXArray(cmlx_expand_dims(array.handle, axes.asInt32, axes.count, stream.ctx))
}

/// A new axis of length 1 at this place of the result.
public func expandedDimensions(_ array: MLXArray, axis: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_expand_dims(array.handle, [axis.int32], 1, stream.ctx))
}

/// Without these axes, which must have length 1.
public func squeezed(
    _ array: MLXArray, axes: some Collection<Int>, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_squeeze(array.handle, axes.asInt32, axes.count, stream.ctx))
}

/// Without this axis, which must have length 1.
public func squeezed(_ array: MLXArray, axis: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_squeeze(array.handle, [axis.int32], 1, stream.ctx))
}

/// Without all axes of length 1.
public func squeezed(_ array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_squeeze_all(array.handle, stream.ctx))
}

/// The axes from `start` to `end` (included) as one.
public func flattened(
    _ array: MLXArray, start: Int = 0, end: Int = -1, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_flatten(array.handle, start.int32, end.int32, stream.ctx))
}

/// One axis as several.
public func unflatten(
    _ a: MLXArray, axis: Int, shape: some Collection<Int>, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_unflatten(a.handle, axis.int32, shape.asInt32, shape.count, stream.ctx))
}

/// The array repeated along axes of length 1 to have this shape.
public func broadcast(
    _ array: MLXArray, to shape: some Collection<Int>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    MLXArray(cmlx_broadcast_to(array.handle, shape.asInt32, shape.count, stream.ctx))
}

/// The arrays one after the other along an axis.
public func concatenated(
    _ arrays: some Collection<MLXArray>, axis: Int = 0, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    withExtendedLifetime(arrays) {
        MLXArray(cmlx_concatenate(arrays.handles, arrays.count, axis.int32, stream.ctx))
    }
}

/// The arrays along a new axis.
public func stacked(
    _ arrays: some Collection<MLXArray>, axis: Int = 0, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    withExtendedLifetime(arrays) {
        MLXArray(cmlx_stack(arrays.handles, arrays.count, axis.int32, stream.ctx))
    }
}

/// Equal parts along an axis.
public func split(_ array: MLXArray, parts: Int, axis: Int = 0, stream: StreamOrDevice = .default)
    -> [MLXArray]
{
    arrays(cmlx_split(array.handle, parts.int32, axis.int32, stream.ctx))
}

/// Two halves along an axis.
public func split(_ array: MLXArray, axis: Int = 0, stream: StreamOrDevice = .default)
    -> (MLXArray, MLXArray)
{
    let halves = split(array, parts: 2, axis: axis, stream: stream)
    return halves.count == 2 ? (halves[0], halves[1]) : (.mlxNone, .mlxNone)
}

/// Parts along an axis that begin at 0 and at each index.
public func split(
    _ array: MLXArray, indices: some Collection<Int>, axis: Int = 0,
    stream: StreamOrDevice = .default
) -> [MLXArray] {
    arrays(cmlx_split_at(array.handle, indices.asInt32, indices.count, axis.int32, stream.ctx))
}

/// Each position of an axis `count` times in a row.
public func repeated(_ array: MLXArray, count: Int, axis: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_repeat(array.handle, count.int32, axis.int32, stream.ctx))
}

/// Each element of the flattened array `count` times in a row.
public func repeated(_ array: MLXArray, count: Int, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_repeat_flat(array.handle, count.int32, stream.ctx))
}

/// The whole array again and again along each axis.
public func tiled(
    _ array: MLXArray, repetitions: some Collection<Int>, stream: StreamOrDevice = .default
)
    -> MLXArray
{
    MLXArray(cmlx_tile(array.handle, repetitions.asInt32, repetitions.count, stream.ctx))
}

/// The whole array again and again along the last axis.
public func tiled(_ array: MLXArray, repetitions: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_tile(array.handle, [repetitions.int32], 1, stream.ctx))
}

/// The positions of an axis moved on by `shift`, around the end.
public func roll(_ a: MLXArray, shift: Int, axis: Int, stream: StreamOrDevice = .default)
    -> MLXArray
{
    MLXArray(cmlx_roll(a.handle, shift.int32, [axis.int32], 1, stream.ctx))
}

/// The positions of some axes, else of the flattened array, moved on by `shift`, around the end.
public func roll(
    _ a: MLXArray, shift: Int, axes: (some Collection<Int>)? = [Int]?.none,
    stream: StreamOrDevice = .default
)
    -> MLXArray
{
    guard let axes else { return MLXArray(cmlx_roll_flat(a.handle, shift.int32, stream.ctx)) }
    return MLXArray(cmlx_roll(a.handle, shift.int32, axes.asInt32, axes.count, stream.ctx))
}

/// What `padded` puts around an array.
public enum PadMode: String {
    /// One value.
    case constant
    /// The nearest element.
    case edge
}

/// The array with `width` more positions before and after each axis.
public func padded(
    _ array: MLXArray, width: IntOrPair, mode: PadMode = .constant, value: MLXArray? = nil,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let widths = Array(repeating: width, count: array.ndim)
    return padded(array, widths: widths, mode: mode, value: value, stream: stream)
}

/// The array with more positions before and after each axis; one width for each axis.
public func padded(
    _ array: MLXArray, widths: some Collection<IntOrPair>, mode: PadMode = .constant,
    value: MLXArray? = nil,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let value = value ?? MLXArray(0, dtype: array.dtype)
    let low = widths.map { $0.first.int32 }
    let high = widths.map { $0.second.int32 }
    return MLXArray(cmlx_pad(array.handle, low, high, low.count, value.handle, mode.rawValue, stream.ctx))
}

/// The memory of an array read with other lengths and strides (in elements); nothing checks the bounds.
public func asStrided(
    _ array: MLXArray, _ shape: (some Collection<Int>)? = [Int]?.none,
    strides: (some Collection<Int>)? = [Int]?.none, offset: Int = 0,
    stream: StreamOrDevice = .default
) -> MLXArray {
    let shape = shape.map { Array($0) } ?? array.shape
    let strides = (strides.map { Array($0) } ?? contiguousStrides(shape: shape)).map { Int64($0) }
    return MLXArray(
        cmlx_as_strided(
            array.handle, shape.asInt32, shape.count, strides, strides.count, Swift.max(offset, 0), stream.ctx))
}

/// The array in row-major (or, if allowed, column-major) memory.
public func contiguous(
    _ a: MLXArray, allowColMajor: Bool = false, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_contiguous(a.handle, allowColMajor, stream.ctx))
}

/// The bytes of the array read as another type; the last axis changes with the element size.
public func view(_ array: MLXArray, dtype: DType, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_view(array.handle, dtype.code, stream.ctx))
}

/// The input, computed after the dependencies.
public func depends(input: MLXArray, dependencies: [MLXArray]) -> MLXArray {
    depends(inputs: [input], dependencies: dependencies).first ?? .mlxNone
}

/// The inputs, computed after the dependencies.
public func depends(inputs: [MLXArray], dependencies: [MLXArray]) -> [MLXArray] {
    withExtendedLifetime((inputs, dependencies)) {
        arrays(cmlx_depends(inputs.handles, inputs.count, dependencies.handles, dependencies.count))
    }
}

/// How `meshGrid` numbers its axes.
public enum MeshGridIndexing: String, Sendable {
    /// The second array runs along the first axis.
    case xy
    /// Each array runs along the axis of its number.
    case ij
}

/// Coordinate arrays for a grid; `sparse` leaves the other axes at length 1.
public func meshGrid(
    _ arrays: some Collection<MLXArray>, sparse: Bool = false, indexing: MeshGridIndexing = .xy,
    stream: StreamOrDevice = .default
) -> [MLXArray] {
    withExtendedLifetime(arrays) {
        MLX.arrays(cmlx_meshgrid(arrays.handles, arrays.count, sparse, indexing.rawValue, stream.ctx))
    }
}
