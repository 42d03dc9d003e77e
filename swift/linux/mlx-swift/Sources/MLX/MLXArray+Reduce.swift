// The ops on elements and axes as methods: each calls the function of its name.

extension MLXArray {
    /// Absolute values.
    public func abs(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.abs(self, stream: stream)
    }

    /// Cosine.
    public func cos(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.cos(self, stream: stream)
    }

    /// e to the power of each element.
    public func exp(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.exp(self, stream: stream)
    }

    /// The next integers below.
    public func floor(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.floor(self, stream: stream)
    }

    /// Natural logarithm.
    public func log(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.log(self, stream: stream)
    }

    /// Logarithm to base 2.
    public func log2(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.log2(self, stream: stream)
    }

    /// Logarithm to base 10.
    public func log10(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.log10(self, stream: stream)
    }

    /// log(1 + x), exact near 0.
    public func log1p(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.log1p(self, stream: stream)
    }

    /// 1 / x.
    public func reciprocal(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.reciprocal(self, stream: stream)
    }

    /// 1 / sqrt(x).
    public func rsqrt(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.rsqrt(self, stream: stream)
    }

    /// Sine.
    public func sin(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.sin(self, stream: stream)
    }

    /// Square root.
    public func sqrt(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.sqrt(self, stream: stream)
    }

    /// x * x.
    public func square(stream: StreamOrDevice = .default) -> MLXArray {
        MLX.square(self, stream: stream)
    }

    /// Whether all elements are non-zero over some axes.
    public func all(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.all(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// Whether all elements are non-zero over one axis.
    public func all(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.all(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// Whether all elements are non-zero over all axes.
    public func all(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.all(self, keepDims: keepDims, stream: stream)
    }

    /// Whether one element is non-zero over some axes.
    public func any(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.any(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// Whether one element is non-zero over one axis.
    public func any(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.any(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// Whether one element is non-zero over all axes.
    public func any(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.any(self, keepDims: keepDims, stream: stream)
    }

    /// log(sum(exp(x))) over some axes.
    public func logSumExp(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.logSumExp(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// log(sum(exp(x))) over one axis.
    public func logSumExp(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.logSumExp(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// log(sum(exp(x))) over all axes.
    public func logSumExp(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.logSumExp(self, keepDims: keepDims, stream: stream)
    }

    /// The largest element over some axes.
    public func max(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.max(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// The largest element over one axis.
    public func max(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.max(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// The largest element over all axes.
    public func max(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.max(self, keepDims: keepDims, stream: stream)
    }

    /// The mean over some axes.
    public func mean(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.mean(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// The mean over one axis.
    public func mean(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.mean(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// The mean over all axes.
    public func mean(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.mean(self, keepDims: keepDims, stream: stream)
    }

    /// The smallest element over some axes.
    public func min(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.min(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// The smallest element over one axis.
    public func min(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.min(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// The smallest element over all axes.
    public func min(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.min(self, keepDims: keepDims, stream: stream)
    }

    /// The product over some axes.
    public func product(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.product(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// The product over one axis.
    public func product(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.product(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// The product over all axes.
    public func product(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.product(self, keepDims: keepDims, stream: stream)
    }

    /// The sum over some axes.
    public func sum(
        axes: some Collection<Int>, keepDims: Bool = false, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.sum(self, axes: axes, keepDims: keepDims, stream: stream)
    }

    /// The sum over one axis.
    public func sum(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.sum(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// The sum over all axes.
    public func sum(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.sum(self, keepDims: keepDims, stream: stream)
    }

    /// Positions of the largest elements along an axis, as uint32.
    public func argMax(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.argMax(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// Positions of the largest elements of the flattened array, as uint32.
    public func argMax(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.argMax(self, keepDims: keepDims, stream: stream)
    }

    /// Positions of the smallest elements along an axis, as uint32.
    public func argMin(axis: Int, keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.argMin(self, axis: axis, keepDims: keepDims, stream: stream)
    }

    /// Positions of the smallest elements of the flattened array, as uint32.
    public func argMin(keepDims: Bool = false, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.argMin(self, keepDims: keepDims, stream: stream)
    }

    /// Running sum along an axis.
    public func cumsum(
        axis: Int, reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cumsum(self, axis: axis, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running sum of the flattened array.
    public func cumsum(
        reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cumsum(self, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running product along an axis.
    public func cumprod(
        axis: Int, reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cumprod(self, axis: axis, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running product of the flattened array.
    public func cumprod(
        reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cumprod(self, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running maximum along an axis.
    public func cummax(
        axis: Int, reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cummax(self, axis: axis, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running maximum of the flattened array.
    public func cummax(
        reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cummax(self, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running minimum along an axis.
    public func cummin(
        axis: Int, reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cummin(self, axis: axis, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// Running minimum of the flattened array.
    public func cummin(
        reverse: Bool = false, inclusive: Bool = true, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.cummin(self, reverse: reverse, inclusive: inclusive, stream: stream)
    }

    /// The variance over some axes, divided by the count - `ddof`.
    public func variance(
        axes: some Collection<Int>, keepDims: Bool = false, ddof: Int = 0,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.variance(self, axes: axes, keepDims: keepDims, ddof: ddof, stream: stream)
    }

    /// The variance over one axis, divided by the count - `ddof`.
    public func variance(
        axis: Int, keepDims: Bool = false, ddof: Int = 0,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.variance(self, axis: axis, keepDims: keepDims, ddof: ddof, stream: stream)
    }

    /// The variance over all axes, divided by the count - `ddof`.
    public func variance(keepDims: Bool = false, ddof: Int = 0, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.variance(self, keepDims: keepDims, ddof: ddof, stream: stream)
    }
}
