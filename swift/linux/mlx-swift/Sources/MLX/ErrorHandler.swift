// Errors of MLX. Ops don't throw: a failing one hands its message to the innermost handler of the task and returns an
// empty array. `withError` is the handler that turns the first message into a thrown error; without any handler the
// process ends, as upstream.
import CMLX
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error of MLX, with its message.
public enum MLXError: LocalizedError, Sendable, Equatable {
    case caught(String)

    /// The message, for people.
    public var errorDescription: String? {
        switch self {
        case .caught(let message): "MLX Error: \(message)"
        }
    }
}

/// The first error inside a `withError`.
public final class ErrorBox: @unchecked Sendable {
    private let lock = Lock()
    private var held: Error?

    /// The first error, if there was one; later ones are dropped.
    public var firstError: Error? {
        get { lock.withLock { held } }
        set { lock.withLock { held = held ?? newValue } }
    }

    /// Throws the first error, if there was one.
    public func check() throws {
        if let firstError { throw firstError }
    }
}

enum ErrorHandlers {
    /// From the outermost to the innermost.
    @TaskLocal static var stack: [@Sendable (String) -> Void] = []
}

/// Hands a message to the innermost handler.
package func report(_ message: String) {
    guard let handler = ErrorHandlers.stack.last else { fatalError(message) }
    handler(message)
}

/// Reports the last error of this thread if a C call failed.
package func check(_ succeeded: Bool) {
    if !succeeded { report(String(cString: cmlx_last_error())) }
}

/// Runs `body`; errors of MLX go to `handler`.
public func withErrorHandler<R>(
    _ handler: @escaping @Sendable (String) -> Void, _ body: () throws -> R
) rethrows -> R {
    try ErrorHandlers.$stack.withValue(ErrorHandlers.stack + [handler], operation: body)
}

/// Runs `body`; errors of MLX go to `handler`.
public func withErrorHandler<R>(
    _ handler: @escaping @Sendable (String) -> Void, _ body: () async throws -> R
) async rethrows -> R {
    try await ErrorHandlers.$stack.withValue(ErrorHandlers.stack + [handler], operation: body)
}

/// Runs `body` and throws the first error of MLX in it; `body` can look at the box in between.
public func withError<R>(_ body: (ErrorBox) throws -> R) throws -> R {
    let box = ErrorBox()
    return try withErrorHandler({ box.firstError = MLXError.caught($0) }) {
        let result = try body(box)
        try box.check()
        return result
    }
}

/// Runs `body` and throws the first error of MLX in it.
public func withError<R>(_ body: () throws -> R) throws -> R {
    try withError { _ in try body() }
}

/// Runs `body` and throws the first error of MLX in it; `body` can look at the box in between.
public func withError<R>(_ body: (ErrorBox) async throws -> R) async throws -> R {
    let box = ErrorBox()
    return try await withErrorHandler({ box.firstError = MLXError.caught($0) }) {
        let result = try await body(box)
        try box.check()
        return result
    }
}

/// Runs `body` and throws the first error of MLX in it.
public func withError<R>(_ body: () async throws -> R) async throws -> R {
    try await withError { _ in try await body() }
}
