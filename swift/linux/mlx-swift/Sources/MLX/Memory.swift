// What arrays hold, the memory that they borrow included, and the allocator's limits. Bytes everywhere.
import CMLX

/// Memory of arrays, in bytes: of MLX's allocator, and what was given to arrays without a copy (mapped weights).
public enum Memory {
    /// Three numbers at one time.
    public struct Snapshot: CustomStringConvertible, Codable, Sendable {
        /// Bytes in arrays.
        public var activeMemory: Int
        /// Bytes kept for later arrays.
        public var cacheMemory: Int
        /// The most bytes in arrays since the start or the last reset.
        public var peakMemory: Int

        /// The change from this snapshot to another.
        public func delta(_ other: Snapshot) -> Snapshot {
            Snapshot(
                activeMemory: other.activeMemory - activeMemory, cacheMemory: other.cacheMemory - cacheMemory,
                peakMemory: other.peakMemory - peakMemory)
        }

        /// The numbers, for people.
        public var description: String {
            "Peak: \(peakMemory)\nActive: \(activeMemory)\nCache: \(cacheMemory)"
        }
    }

    private static let lock = Lock()
    nonisolated(unsafe) private static var knownCacheLimit: Int?

    /// Bytes in arrays.
    public static var activeMemory: Int { cmlx_active_memory() }

    /// Bytes kept for later arrays.
    public static var cacheMemory: Int { cmlx_cache_memory() }

    /// The most bytes in arrays since the start or the last reset; setting it to any number resets it.
    public static var peakMemory: Int {
        get { cmlx_peak_memory() }
        set { cmlx_reset_peak_memory() }
    }

    /// All three numbers.
    public static func snapshot() -> Snapshot {
        Snapshot(activeMemory: activeMemory, cacheMemory: cacheMemory, peakMemory: peakMemory)
    }

    /// The most bytes to keep for later arrays.
    public static var cacheLimit: Int {
        get {
            lock.withLock {
                if let knownCacheLimit { return knownCacheLimit }
                // MLX only tells the old limit when it takes a new one.
                let limit = cmlx_set_cache_limit(cmlx_cache_memory())
                _ = cmlx_set_cache_limit(limit)
                knownCacheLimit = Int(clamping: limit)
                return Int(clamping: limit)
            }
        }
        set {
            lock.withLock {
                knownCacheLimit = newValue
                _ = cmlx_set_cache_limit(Swift.max(newValue, 0))
            }
        }
    }

    /// Bytes in arrays above which MLX waits for running work before it allocates more.
    public static var memoryLimit: Int {
        get { Int(clamping: cmlx_memory_limit()) }
        set { _ = cmlx_set_memory_limit(Swift.max(newValue, 0)) }
    }

    /// Gives the bytes that are kept for later arrays back to the system.
    public static func clearCache() {
        evalLock.withLock { cmlx_clear_cache() }
    }
}
