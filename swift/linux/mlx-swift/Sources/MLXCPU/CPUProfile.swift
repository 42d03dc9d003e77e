// Totals of the CPU primitives by stage: time between start and stop, bytes always. Process-wide.
import CMLX

/// What the CPU primitives did since the last start.
public enum CPUProfile {
    /// One kind of work.
    public struct Stage: Sendable, Equatable {
        /// For people.
        public let name: String
        /// Nanoseconds.
        public let nanoseconds: Int
        /// Bytes of weights, keys and values that it read.
        public let bytes: Int
        /// Jobs.
        public let calls: Int
    }

    /// Zeroes the totals and times from now on.
    public static func start() { cmlx_cpu_profile_start() }

    /// Times no longer; the totals stay.
    public static func stop() { cmlx_cpu_profile_stop() }

    /// The totals. The first stage is the evaluation of graphs; it holds the time of all others.
    public static var stages: [Stage] {
        var found: [Stage] = []
        var stage = cmlx_cpu_stage()
        while cmlx_cpu_profile_stage(found.count, &stage) {
            found.append(
                Stage(
                    name: String(cString: stage.name), nanoseconds: Int(stage.nanoseconds), bytes: Int(stage.bytes),
                    calls: Int(stage.calls)))
        }
        return found
    }

    /// Bytes a second that the threads of the primitives read from memory; 0 if there is too little of it.
    /// - Parameters:
    ///   - bytes: What is read in a round; larger than the caches.
    ///   - rounds: The best of so many.
    public static func readBandwidth(bytes: Int, rounds: Int) -> Double {
        cmlx_cpu_read_bandwidth(Int64(bytes), Int32(clamping: rounds))
    }
}
