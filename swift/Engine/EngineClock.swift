/// Time as a parameter: usage, deadlines and statistics read this clock, so tests turn it by hand.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A clock that never goes back.
public protocol EngineClock: Sendable {
    /// Microseconds since some start.
    func nowUs() -> UInt64
}

/// The system's monotonic clock.
public struct MonotonicClock: EngineClock {
    /// The one there is.
    public init() {}

    /// Microseconds since boot.
    public func nowUs() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}
