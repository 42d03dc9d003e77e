/// An OS thread for the engine's life: MLX's streams belong to a thread, so load, prefill, decode and free happen on
/// the same one. What it does is EngineLoop's.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A running thread.
final class EngineThread: Sendable {
    /// What becomes of the thread, for `join`.
    private enum Ending: Sendable {
        case running, joining, joined
    }

    /// A pointer on Apple systems, a number elsewhere; only `pthread_join` is ever called on it.
    private struct Thread: @unchecked Sendable {
        let id: pthread_t
    }

    private let thread: Thread
    private let ending = Monitor(Ending.running)

    /// Starts it.
    /// - Throws: `internal` if the system gives no thread.
    init(_ body: @escaping @Sendable () -> Void) throws(EngineError) {
        thread = Thread(id: try EngineThread.start(body))
    }

    /// Returns once the thread has ended, whoever asks and however often.
    func join() {
        let first = ending.withLock { ending in
            guard ending == .running else { return false }
            ending = .joining
            return true
        }
        if first {
            pthread_join(thread.id, nil)
            ending.change { $0 = .joined }
        } else {
            _ = ending.wait(timeoutUs: nil) { $0 == .joined ? true : nil }
        }
    }

    /// Carries the body over pthread's void pointer.
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) throws(EngineError) -> pthread_t {
        let box = Unmanaged.passRetained(Box(body))
        let (code, thread) = create(box.toOpaque())
        guard code == 0, let thread else {
            box.release()
            throw EngineError(.internal, "Cannot start the engine thread: pthread_create gave \(code)")
        }
        return thread
    }

    private static func create(_ box: UnsafeMutableRawPointer) -> (Int32, pthread_t?) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Limits.engineStackBytes)
        #if canImport(Darwin)
        var thread: pthread_t?
        let code = pthread_create(&thread, &attributes, { EngineThread.runBox($0) }, box)
        return (code, thread)
        #else
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, { $0.flatMap(EngineThread.runBox) }, box)
        return (code, thread)
        #endif
    }

    private static func runBox(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
        pthread_setname_np("rmx-engine")
        #endif
        Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}
