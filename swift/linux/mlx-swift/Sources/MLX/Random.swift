// Random numbers from a counter-based generator: the same key always gives the same numbers. Without a key, a shared
// state is split for each call.
import CMLX

/// A key, or a state that gives a new key at each call.
public protocol RandomStateOrKey {
    /// The key to use.
    func asRandomKey() -> MLXArray
}

extension MLXArray: RandomStateOrKey {
    /// The array is the key.
    public func asRandomKey() -> MLXArray {
        self
    }
}

/// Random numbers.
public enum MLXRandom {
    /// A state that gives a new key at each call.
    public class RandomState: RandomStateOrKey, Updatable, Evaluatable, @unchecked (Sendable) {
        private var state: MLXArray
        private let lock = Lock()

        /// A state that differs at each start.
        public init() {
            state = MLXRandom.key(UInt64.random(in: .min ... .max))
        }

        /// A state that is the same for each seed.
        public init(seed: UInt64) {
            state = MLXRandom.key(seed)
        }

        /// The state.
        public func innerState() -> [MLXArray] {
            lock.withLock { [state] }
        }

        /// A new key.
        public func next() -> MLXArray {
            lock.withLock {
                let (kept, given) = MLXRandom.split(key: state)
                state = kept
                return given
            }
        }

        /// Starts again from a seed.
        public func seed(_ seed: UInt64) {
            lock.withLock { state = MLXRandom.key(seed) }
        }

        /// A new key.
        public func asRandomKey() -> MLXArray {
            next()
        }
    }

    /// What calls without a key use.
    public static let globalState = RandomState()

    @TaskLocal static var taskState: RandomState?

    /// Starts the shared state again from a seed.
    public static func seed(_ seed: UInt64) {
        globalState.seed(seed)
    }

    /// The key of a seed: uint32 `[2]`.
    public static func key(_ seed: UInt64) -> MLXArray {
        MLXArray(cmlx_random_key(seed))
    }

    /// `num` keys from one.
    public static func split(key: MLXArray, into num: Int, stream: StreamOrDevice = .default)
        -> [MLXArray]
    {
        let keys = MLXArray(cmlx_random_split(key.handle, num.int32, stream.ctx))
        return keys.ndim == 2 ? keys.map { $0 } : []
    }

    /// Two keys from one.
    public static func split(key: MLXArray, stream: StreamOrDevice = .default) -> (
        MLXArray, MLXArray
    ) {
        let keys = split(key: key, into: 2, stream: stream)
        return keys.count == 2 ? (keys[0], keys[1]) : (.mlxNone, .mlxNone)
    }

    /// Numbers in a range, the upper bound excluded.
    public static func uniform(
        _ range: Range<Float> = 0 ..< 1, _ shape: some Collection<Int> = [],
        type: (some HasDType & BinaryFloatingPoint).Type = Float.self,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        uniform(
            low: range.lowerBound, high: range.upperBound, Array(shape), dtype: type.dtype, key: key, stream: stream)
    }

    /// Numbers from `low` to `high` (excluded); without a shape, in that of the bounds.
    public static func uniform(
        low: some ScalarOrArray, high: some ScalarOrArray,
        _ shape: (some Collection<Int>)? = [Int]?.none,
        type: (some HasDType & BinaryFloatingPoint).Type = Float.self,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        uniform(low: low, high: high, shape, dtype: type.dtype, key: key, stream: stream)
    }

    /// Numbers from `low` to `high` (excluded); without a shape, in that of the bounds.
    public static func uniform(
        low: some ScalarOrArray, high: some ScalarOrArray,
        _ shape: (some Collection<Int>)? = [Int]?.none, dtype: DType,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let (low, high) = toArrays(low, high)
        let shape = shape?.asInt32 ?? low.shape.asInt32
        let key = resolve(key: key)
        return MLXArray(
            cmlx_random_uniform(
                low.handle, high.handle, shape, shape.count, dtype.code, key.handle, stream.ctx))
    }

    /// Normally distributed numbers with mean `loc` and standard deviation `scale`.
    public static func normal(
        _ shape: some Collection<Int> = [],
        type: (some HasDType & BinaryFloatingPoint).Type = Float.self, loc: Float = 0,
        scale: Float = 1, key: (some RandomStateOrKey)? = MLXArray?.none,
        stream: StreamOrDevice = .default
    ) -> MLXArray {
        normal(shape, dtype: type.dtype, loc: loc, scale: scale, key: key, stream: stream)
    }

    /// Normally distributed numbers with mean `loc` and standard deviation `scale`.
    public static func normal(
        _ shape: some Collection<Int> = [], dtype: DType, loc: Float = 0, scale: Float = 1,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let key = resolve(key: key)
        return MLXArray(
            cmlx_random_normal(shape.asInt32, shape.count, dtype.code, loc, scale, key.handle, stream.ctx))
    }

    /// Integers in a range, the upper bound excluded.
    public static func randInt<T>(
        _ range: Range<T>, _ shape: some Collection<Int> = [],
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray where T: HasDType, T: BinaryInteger {
        let low = MLXArray(range.lowerBound)
        let high = MLXArray(range.upperBound)
        let key = resolve(key: key)
        return MLXArray(
            cmlx_random_randint(
                low.handle, high.handle, shape.asInt32, shape.count, T.dtype.code, key.handle, stream.ctx))
    }

    /// True with probability `p` (1/2 in the other form); without a shape, in that of `p`.
    public static func bernoulli(
        _ p: some ScalarOrArray, _ shape: (some Collection<Int>)? = [Int]?.none,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let p = p.asMLXArray(dtype: .float32)
        let shape = shape?.asInt32 ?? p.shape.asInt32
        let key = resolve(key: key)
        return MLXArray(cmlx_random_bernoulli(p.handle, shape, shape.count, key.handle, stream.ctx))
    }

    /// Numbers of the standard Gumbel distribution.
    public static func gumbel(
        _ shape: some Collection<Int> = [], dtype: DType,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let key = resolve(key: key)
        return MLXArray(cmlx_random_gumbel(shape.asInt32, shape.count, dtype.code, key.handle, stream.ctx))
    }

    /// Positions along an axis of logits, drawn with probability softmax(logits); `shape` is the result's.
    public static func categorical(
        _ logits: MLXArray, axis: Int = -1, shape: (some Collection<Int>)? = [Int]?.none,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let key = resolve(key: key)
        guard let shape else {
            return MLXArray(cmlx_random_categorical(logits.handle, axis.int32, key.handle, stream.ctx))
        }
        return MLXArray(
            cmlx_random_categorical_shape(
                logits.handle, axis.int32, shape.asInt32, shape.count, key.handle, stream.ctx))
    }

    /// `count` draws for each row of logits, along a new last axis.
    public static func categorical(
        _ logits: MLXArray, axis: Int = -1, count: Int,
        key: (some RandomStateOrKey)? = MLXArray?.none, stream: StreamOrDevice = .default
    ) -> MLXArray {
        let key = resolve(key: key)
        return MLXArray(
            cmlx_random_categorical_count(logits.handle, axis.int32, count.int32, key.handle, stream.ctx))
    }
}

/// The key to use: the given one, else the task's state, else the shared one.
public func resolve(key: (some RandomStateOrKey)? = MLXArray?.none) -> MLXArray {
    key?.asRandomKey() ?? (MLXRandom.taskState ?? MLXRandom.globalState).next()
}

/// Runs `body` with another random state.
public func withRandomState<R>(_ state: MLXRandom.RandomState, body: () throws -> R) rethrows -> R {
    try MLXRandom.$taskState.withValue(state, operation: body)
}
