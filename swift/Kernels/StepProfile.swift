/// Where the time of a step goes on the CPU, and how many bytes it reads. Elsewhere nothing is known.

#if canImport(MLXCPU)
import MLXCPU
#endif

/// Totals of the kernels of this process, by kind of work.
public struct StepProfile: Sendable, Equatable {
    /// One kind of work.
    public struct Stage: Sendable, Equatable {
        /// For people, e.g. `gate and up`.
        public let name: String
        /// Nanoseconds.
        public let nanoseconds: Int
        /// Bytes of weights, keys and values that it read.
        public let bytes: Int
        /// Jobs.
        public let calls: Int
    }

    /// Nanoseconds that graphs were evaluated, all stages included.
    public let evaluationNanoseconds: Int
    /// Those that had work.
    public let stages: [Stage]
    /// Bytes that all stages read.
    public var bytes: Int { stages.reduce(0) { $0 + $1.bytes } }

    /// Zeroes the totals and times from now on.
    public static func start() {
        #if canImport(MLXCPU)
        CPUProfile.start()
        #endif
    }

    /// Ends the timing.
    /// - Returns: What was done since the start; nil where the kernels don't tell.
    public static func stop() -> StepProfile? {
        #if canImport(MLXCPU)
        CPUProfile.stop()
        let found = CPUProfile.stages
        guard let evaluation = found.first else { return nil }
        return StepProfile(
            evaluationNanoseconds: evaluation.nanoseconds,
            stages: found.dropFirst().filter { $0.calls > 0 || $0.bytes > 0 }.map {
                Stage(name: $0.name, nanoseconds: $0.nanoseconds, bytes: $0.bytes, calls: $0.calls)
            })
        #else
        return nil
        #endif
    }

    /// Bytes a second that the kernels' threads read from memory, measured now on 256 MB; nil where there are none.
    public static func readBandwidth() -> Double? {
        #if canImport(MLXCPU)
        let found = CPUProfile.readBandwidth(bytes: 256 << 20, rounds: 9)
        return found > 0 ? found : nil
        #else
        return nil
        #endif
    }
}
