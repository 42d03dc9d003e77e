// Computing arrays. One lock around everything that runs graphs: MLX's evaluation is for one thread at a time.
import CMLX

/// Held while MLX evaluates, opens streams or changes its caches.
let evalLock = Lock(recursive: true)

/// Computes arrays.
public func eval(_ arrays: MLXArray...) {
    eval(arrays)
}

/// Computes arrays.
public func eval(_ arrays: some Collection<MLXArray>) {
    withExtendedLifetime(arrays) {
        check(evalLock.withLock { cmlx_eval(arrays.handles, arrays.count) })
    }
}

/// Computes the arrays in these values: arrays, collections, tuples, anything Evaluatable.
public func eval(_ values: Any...) {
    eval(collected(values))
}

/// Starts to compute arrays and returns.
public func asyncEval(_ arrays: some Collection<MLXArray>) {
    withExtendedLifetime(arrays) {
        check(evalLock.withLock { cmlx_async_eval(arrays.handles, arrays.count) })
    }
}

/// Starts to compute the arrays in these values and returns.
public func asyncEval(_ values: Any...) {
    asyncEval(collected(values))
}

/// Computes the arrays in these values and throws what goes wrong.
public func checkedEval(_ values: Any...) throws {
    try withError { eval(collected(values)) }
}

/// The arrays in a value. Strings and numbers have none; a value of another kind is an error.
private func collected(_ value: Any) -> [MLXArray] {
    switch value {
    case let value as any Evaluatable: return value.innerState()
    case let value as [Any]: return value.flatMap(collected)
    case let value as [AnyHashable: Any]: return value.values.flatMap(collected)
    case is String, is any BinaryInteger, is any BinaryFloatingPoint: return []
    default:
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .tuple || mirror.displayStyle == .optional {
            return mirror.children.flatMap { collected($0.value) }
        }
        report("can't find arrays in a \(type(of: value))")
        return []
    }
}
