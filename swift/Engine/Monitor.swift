/// A value behind a lock, with waiting. Synchronization's `Mutex` needs macOS 15 and can't wait; this is pthread's
/// pair.
///
/// Nobody may hold it across a step, a load or any other call that can take long: functions marked RMX_FAST take it.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Guards one value; each access is exclusive.
///
/// Unchecked because the compiler can't see that every access to `value` is between lock and unlock. All three stored
/// properties are pointers that never change after `init`.
package final class Monitor<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    /// Guards `initial`.
    package init(_ initial: Value) {
        value.initialize(to: initial)
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        // The default clock of a timed wait is the wall clock, which may jump.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        value.deinitialize(count: 1)
        condition.deallocate()
        mutex.deallocate()
        value.deallocate()
    }

    /// Runs `body` alone with the value.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// As `withLock`, then lets every waiting thread look again.
    package func change<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value.pointee)
    }

    /// Tries `take` now and after each change until it gives a result; nil once the time is over.
    ///
    /// `take` has the value only while it runs: the lock is released between two tries, and so is the access. Without
    /// `timeoutUs`, in microseconds, there is no limit.
    package func wait<Result, Failure: Error>(
        timeoutUs: UInt64?, _ take: (inout Value) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        let end = timeoutUs.map { MonotonicClock().nowUs().addingSaturated($0) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try take(&value.pointee) { return result }
            guard let end else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            let now = MonotonicClock().nowUs()
            if now >= end { return nil }
            sleep(untilUs: end, fromUs: now)
        }
    }

    /// One timed wait; may return early.
    private func sleep(untilUs end: UInt64, fromUs now: UInt64) {
        // An hour at a time keeps the seconds far from overflow whatever the caller asked.
        let us = min(end - now, 3_600_000_000)
        #if canImport(Darwin)
        var span = timespec(tv_sec: Int(us / 1_000_000), tv_nsec: Int(us % 1_000_000) * 1_000)
        pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #else
        let target = now + us
        var time = timespec(tv_sec: Int(target / 1_000_000), tv_nsec: Int(target % 1_000_000) * 1_000)
        pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}

extension UInt64 {
    /// The sum, or the largest value if it overflows.
    func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
