// The ops on shape, place and products as methods: each calls the function of its name.

extension MLXArray {
    /// The elements in another shape; one length may be -1.
    public func reshaped(_ newShape: some Collection<Int>, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.reshaped(self, newShape, stream: stream)
    }

    /// The elements in another shape; one length may be -1.
    public func reshaped(_ newShape: Int..., stream: StreamOrDevice = .default) -> MLXArray {
        MLX.reshaped(self, newShape, stream: stream)
    }

    /// The axes in another order.
    public func transposed(axes: some Collection<Int>, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.transposed(self, axes: axes, stream: stream)
    }

    /// The axes in another order.
    public func transposed(_ axes: Int..., stream: StreamOrDevice = .default) -> MLXArray {
        MLX.transposed(self, axes: axes, stream: stream)
    }

    /// The axes in reverse order.
    public func transposed(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.transposed(self, stream: stream)
    }

    /// The axes in reverse order.
    public var T: MLXArray {
        transposed()
    }

    /// Two axes exchanged.
    public func swappedAxes(_ axis1: Int, _ axis2: Int, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.swappedAxes(self, axis1, axis2, stream: stream)
    }

    /// One axis moved to another place.
    public func movedAxis(source: Int, destination: Int, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.movedAxis(self, source: source, destination: destination, stream: stream)
    }

    /// New axes of length 1 at these places of the result.
    public func expandedDimensions(axes: some Collection<Int>, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.expandedDimensions(self, axes: axes, stream: stream)
    }

    /// A new axis of length 1 at this place of the result.
    public func expandedDimensions(axis: Int, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.expandedDimensions(self, axis: axis, stream: stream)
    }

    /// Without these axes, which must have length 1.
    public func squeezed(axes: some Collection<Int>, stream: StreamOrDevice = .default) -> MLXArray
    {
        MLX.squeezed(self, axes: axes, stream: stream)
    }

    /// Without this axis, which must have length 1.
    public func squeezed(axis: Int, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.squeezed(self, axis: axis, stream: stream)
    }

    /// Without all axes of length 1.
    public func squeezed(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.squeezed(self, stream: stream)
    }

    /// The axes from `start` to `end` (included) as one.
    public func flattened(start: Int = 0, end: Int = -1, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.flattened(self, start: start, end: end, stream: stream)
    }

    /// Equal parts along an axis.
    public func split(parts: Int, axis: Int = 0, stream: StreamOrDevice = .default) -> [MLXArray] {
        MLX.split(self, parts: parts, axis: axis, stream: stream)
    }

    /// Two halves along an axis.
    public func split(axis: Int = 0, stream: StreamOrDevice = .default) -> (MLXArray, MLXArray) {
        MLX.split(self, axis: axis, stream: stream)
    }

    /// Parts along an axis that begin at 0 and at each index.
    public func split(
        indices: some Collection<Int>, axis: Int = 0, stream: StreamOrDevice = .default
    )
        -> [MLXArray]
    {
        MLX.split(self, indices: indices, axis: axis, stream: stream)
    }

    /// The elements at these positions of an axis, in the indices' shape.
    public func take(_ indices: MLXArray, axis: Int, stream: StreamOrDevice = .default) -> MLXArray
    {
        MLX.take(self, indices, axis: axis, stream: stream)
    }

    /// The elements at these positions of the flattened array.
    public func take(_ indices: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.take(self, indices, stream: stream)
    }

    /// The bytes of the array read as another type; the last axis changes with the element size.
    public func view(dtype: DType, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.view(self, dtype: dtype, stream: stream)
    }

    /// The array in row-major (or, if allowed, column-major) memory.
    public func contiguous(
        allowColMajor: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.contiguous(self, allowColMajor: allowColMajor, stream: stream)
    }

    /// The matrix product.
    public func matmul(_ other: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.matmul(self, other, stream: stream)
    }

    /// Each element to the power of the other.
    public func pow(_ other: some ScalarOrArray, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.pow(self, other, stream: stream)
    }

    /// The quotient, rounded down.
    public func floorDivide(_ other: some ScalarOrArray, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.floorDivide(self, other, stream: stream)
    }

    /// Elements rounded to a number of decimals, halves to even.
    public func round(decimals: Int = 0, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.round(self, decimals: decimals, stream: stream)
    }

    /// Whether |a - b| <= atol + rtol * |b| everywhere; a bool scalar.
    public func allClose(
        _ other: some ScalarOrArray, rtol: Double = 1e-5, atol: Double = 1e-8,
        equalNaN: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.allClose(self, other, rtol: rtol, atol: atol, equalNaN: equalNaN, stream: stream)
    }

    /// Whether both have the same shape and elements; a bool scalar.
    public func arrayEqual(
        _ other: some ScalarOrArray, equalNAN: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.arrayEqual(self, other, equalNAN: equalNAN, stream: stream)
    }
}
