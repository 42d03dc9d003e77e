// Locks over pthread. Foundation's are not used here: a library that links Foundation statically carries ICU's tables
// (about 40 MB), FoundationEssentials does not.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A mutual exclusion that its holder may take again when `recursive`.
///
/// Unchecked: the only state is the pthread mutex, which is made for sharing.
final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(recursive: Bool = false) {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        let kind = recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL
        pthread_mutexattr_settype(&attributes, Int32(kind))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func unlock() { pthread_mutex_unlock(mutex) }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}
