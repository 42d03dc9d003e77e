// New arrays: constant, counting, unit matrices. Functions, and the same as static members of MLXArray.
import CMLX

/// Zeros.
public func zeros(
    _ shape: some Collection<Int>, type: (some HasDType).Type = Float.self,
    stream: StreamOrDevice = .default
) -> MLXArray {
    zeros(shape, dtype: type.dtype, stream: stream)
}

/// Zeros.
public func zeros(
    _ shape: some Collection<Int>, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    full(shape, values: MLXArray(0, dtype: dtype), dtype: dtype, stream: stream)
}

/// Zeros in the shape and type of an array.
public func zeros(like array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_zeros_like(array.handle, stream.ctx))
}

/// Ones.
public func ones(
    _ shape: some Collection<Int>, type: (some HasDType).Type = Float.self,
    stream: StreamOrDevice = .default
) -> MLXArray {
    ones(shape, dtype: type.dtype, stream: stream)
}

/// Ones.
public func ones(
    _ shape: some Collection<Int>, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    full(shape, values: MLXArray(1, dtype: dtype), dtype: dtype, stream: stream)
}

/// Ones in the shape and type of an array.
public func ones(like array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
    MLXArray(cmlx_ones_like(array.handle, stream.ctx))
}

/// The values, broadcast to a shape.
public func full(
    _ shape: some Collection<Int>, values: some ScalarOrArray, type: (some HasDType).Type,
    stream: StreamOrDevice = .default
) -> MLXArray {
    full(shape, values: values.asMLXArray(dtype: nil), dtype: type.dtype, stream: stream)
}

/// The values, broadcast to a shape.
public func full(
    _ shape: some Collection<Int>, values: MLXArray, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_full(shape.asInt32, shape.count, values.handle, dtype.code, stream.ctx))
}

/// The values, broadcast to a shape, in their own type.
public func full(
    _ shape: some Collection<Int>, values: some ScalarOrArray, stream: StreamOrDevice = .default
) -> MLXArray {
    let values = values.asMLXArray(dtype: nil)
    return full(shape, values: values, dtype: values.dtype, stream: stream)
}

/// A matrix `[n, m]` with ones on diagonal `k`.
public func eye(
    _ n: Int, m: Int? = nil, k: Int = 0, type: (some HasDType).Type = Float.self,
    stream: StreamOrDevice = .default
) -> MLXArray {
    eye(n, m: m, k: k, dtype: type.dtype, stream: stream)
}

/// A matrix `[n, m]` with ones on diagonal `k`.
public func eye(
    _ n: Int, m: Int? = nil, k: Int = 0, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_eye(n.int32, (m ?? n).int32, k.int32, dtype.code, stream.ctx))
}

/// A matrix `[n, m]` with ones on and below diagonal `k`.
public func tri(
    _ n: Int, m: Int? = nil, k: Int = 0, type: (some HasDType).Type = Float.self,
    stream: StreamOrDevice = .default
) -> MLXArray {
    tri(n, m: m, k: k, dtype: type.dtype, stream: stream)
}

/// A matrix `[n, m]` with ones on and below diagonal `k`.
public func tri(
    _ n: Int, m: Int? = nil, k: Int = 0, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_tri(n.int32, (m ?? n).int32, k.int32, dtype.code, stream.ctx))
}

/// `count` numbers from `start` to `stop`, both included.
public func linspace<T: HasDType>(
    _ start: T, _ stop: T, count: Int = 50, stream: StreamOrDevice = .default
) -> MLXArray where T: BinaryInteger {
    MLXArray(cmlx_linspace(Double(start), Double(stop), count.int32, T.dtype.code, stream.ctx))
}

/// `count` numbers from `start` to `stop`, both included.
public func linspace<T: HasDType>(
    _ start: T, _ stop: T, count: Int = 50, stream: StreamOrDevice = .default
) -> MLXArray where T: BinaryFloatingPoint {
    MLXArray(cmlx_linspace(Double(start), Double(stop), count.int32, T.dtype.code, stream.ctx))
}

/// 0, 1, … below `stop`, as int32.
public func arange(_ stop: Int, stream: StreamOrDevice = .default) -> MLXArray {
    arange(0, stop, dtype: .int32, stream: stream)
}

/// `start`, `start + step`, … before `stop`, as int32.
public func arange(
    _ start: Int, _ stop: Int, step: Int = 1, stream: StreamOrDevice = .default
) -> MLXArray {
    arange(start, stop, step: step, dtype: .int32, stream: stream)
}

/// 0, 1, … below `stop`.
public func arange(_ stop: Int, dtype: DType, stream: StreamOrDevice = .default) -> MLXArray {
    arange(0, stop, dtype: dtype, stream: stream)
}

/// `start`, `start + step`, … before `stop`.
public func arange(
    _ start: Int, _ stop: Int, step: Int = 1, dtype: DType, stream: StreamOrDevice = .default
) -> MLXArray {
    arange(Double(start), Double(stop), step: Double(step), dtype: dtype, stream: stream)
}

/// 0, 1, … below `stop`.
public func arange(
    _ stop: Double, dtype: DType = .float32, stream: StreamOrDevice = .default
) -> MLXArray {
    arange(0.0, stop, dtype: dtype, stream: stream)
}

/// `start`, `start + step`, … before `stop`.
public func arange(
    _ start: Double, _ stop: Double, step: Double = 1.0, dtype: DType = .float32,
    stream: StreamOrDevice = .default
) -> MLXArray {
    MLXArray(cmlx_arange(start, stop, step, dtype.code, stream.ctx))
}

extension MLXArray {
    /// Zeros.
    static public func zeros(
        _ shape: some Collection<Int>, type: (some HasDType).Type = Float.self,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.zeros(shape, type: type, stream: stream)
    }

    /// Zeros.
    static public func zeros(
        _ shape: some Collection<Int>, dtype: DType, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.zeros(shape, dtype: dtype, stream: stream)
    }

    /// Zeros in the shape and type of an array.
    static public func zeros(like array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.zeros(like: array, stream: stream)
    }

    /// Ones.
    static public func ones(
        _ shape: some Collection<Int>, type: (some HasDType).Type = Float.self,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.ones(shape, type: type, stream: stream)
    }

    /// Ones.
    static public func ones(
        _ shape: some Collection<Int>, dtype: DType, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.ones(shape, dtype: dtype, stream: stream)
    }

    /// Ones in the shape and type of an array.
    static public func ones(like array: MLXArray, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.ones(like: array, stream: stream)
    }

    /// The values, broadcast to a shape.
    static public func full(
        _ shape: some Collection<Int>, values: MLXArray, dtype: DType,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.full(shape, values: values, dtype: dtype, stream: stream)
    }

    /// The values, broadcast to a shape, in their own type.
    static public func full(
        _ shape: some Collection<Int>, values: MLXArray, stream: StreamOrDevice = .default
    )
        -> MLXArray
    {
        MLX.full(shape, values: values, stream: stream)
    }

    /// A matrix `[n, m]` with ones on diagonal `k`.
    static public func eye(
        _ n: Int, m: Int? = nil, k: Int = 0, dtype: DType, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.eye(n, m: m, k: k, dtype: dtype, stream: stream)
    }

    /// A matrix `[n, m]` with ones on and below diagonal `k`.
    static public func tri(
        _ n: Int, m: Int? = nil, k: Int = 0, dtype: DType, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.tri(n, m: m, k: k, dtype: dtype, stream: stream)
    }

    /// `count` numbers from `start` to `stop`, both included.
    static public func linspace<T: HasDType>(
        _ start: T, _ stop: T, count: Int = 50, stream: StreamOrDevice = .default
    ) -> MLXArray where T: BinaryInteger {
        MLX.linspace(start, stop, count: count, stream: stream)
    }

    /// `count` numbers from `start` to `stop`, both included.
    static public func linspace<T: HasDType>(
        _ start: T, _ stop: T, count: Int = 50, stream: StreamOrDevice = .default
    ) -> MLXArray where T: BinaryFloatingPoint {
        MLX.linspace(start, stop, count: count, stream: stream)
    }

    /// 0, 1, … below `stop`, as int32.
    static public func arange(_ stop: Int, stream: StreamOrDevice = .default) -> MLXArray {
        MLX.arange(stop, stream: stream)
    }

    /// `start`, `start + step`, … before `stop`, as int32.
    static public func arange(
        _ start: Int, _ stop: Int, step: Int = 1, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.arange(start, stop, step: step, stream: stream)
    }

    /// 0, 1, … below `stop`.
    static public func arange(_ stop: Int, dtype: DType, stream: StreamOrDevice = .default)
        -> MLXArray
    {
        MLX.arange(stop, dtype: dtype, stream: stream)
    }

    /// `start`, `start + step`, … before `stop`.
    static public func arange(
        _ start: Int, _ stop: Int, step: Int = 1, dtype: DType, stream: StreamOrDevice = .default
    ) -> MLXArray {
        MLX.arange(start, stop, step: step, dtype: dtype, stream: stream)
    }
}
