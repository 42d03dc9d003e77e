/// Where the microseconds of a decode step go: `rmx-core bench DIR --profile`.
///
/// Three shares: stages, which are kernels; the rest of the evaluation (MLX's queue between them, waking threads); and
/// all outside of it (building the graph, drawing the token, bookkeeping). Figures are means over the steps.

import Kernels

/// The shares of one step.
public struct BenchProfile: Sendable, Encodable {
    /// One line.
    public struct Share: Sendable, Encodable {
        /// What was done.
        public var name: String
        /// Microseconds a step.
        public var us: Double
        /// Part of the step, 0 to 1.
        public var part: Double
        /// Bytes of weights, keys and values that it read, a step.
        public var bytes: Int
        /// Jobs a step.
        public var calls: Double
    }

    /// In order of the layers, then what is outside of kernels.
    public var shares: [Share]
    /// Microseconds a step, the mean.
    public var stepUs: Double
    /// Bytes a second that the step read.
    public var bytesPerSecond: Double
    /// Bytes a second that the same threads read from memory at most, measured beside it; nil: not known.
    public var memoryBytesPerSecond: Double?
    /// Searches of a draw over 49,152 logits, beside plain Swift.
    public var draws: [LogitRowCost]

    enum CodingKeys: String, CodingKey {
        case shares
        case stepUs = "step_us"
        case bytesPerSecond = "bytes_per_second"
        case draws
        case memoryBytesPerSecond = "memory_bytes_per_second"
    }

    /// - Parameter stepsUs: What each step took, at least one.
    init(_ profile: StepProfile, stepsUs: [Int]) {
        let steps = Double(max(1, stepsUs.count))
        let whole = Double(stepsUs.reduce(0, +))
        func share(_ name: String, us: Double, bytes: Int = 0, calls: Int = 0) -> Share {
            Share(
                name: name, us: us / steps, part: us / max(1, whole), bytes: Int(Double(bytes) / steps),
                calls: Double(calls) / steps)
        }
        let stages = profile.stages.map {
            share($0.name, us: Double($0.nanoseconds) / 1000, bytes: $0.bytes, calls: $0.calls)
        }
        let kernels = profile.stages.reduce(0) { $0 + Double($1.nanoseconds) / 1000 }
        let evaluation = Double(profile.evaluationNanoseconds) / 1000
        shares =
            stages + [
                share("evaluation outside kernels", us: max(0, evaluation - kernels)),
                share("graph, drawing and bookkeeping", us: max(0, whole - evaluation)),
            ]
        stepUs = whole / steps
        bytesPerSecond = Double(profile.bytes) * 1e6 / max(1, whole)
        memoryBytesPerSecond = StepProfile.readBandwidth()
        draws = LogitRow.costs(count: 49_152)
    }

    /// A table for people.
    public var lines: [String] {
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
        let head = "  " + right("us", 10) + right("%", 7) + right("calls", 8) + right("MB", 8) + right("GB/s", 8)
        let rows = shares.map { share in
            let speed = share.us > 0 ? Double(share.bytes) / share.us / 1000 : 0
            return "  " + right(rounded(share.us), 10) + right(rounded(share.part * 100), 7)
                + right(rounded(share.calls), 8) + right(share.bytes > 0 ? rounded(Double(share.bytes) / 1e6) : "", 8)
                + right(share.bytes > 0 ? rounded(speed) : "", 8) + "  \(share.name)"
        }
        let memory = memoryBytesPerSecond.map {
            " of \(rounded($0 / 1e9)) GB/s that memory gives (\(Int((bytesPerSecond / $0 * 100).rounded())) %)"
        }
        let searches = draws.map {
            "  \(rounded($0.kernelUs)) us for \($0.name), \(rounded($0.referenceUs / $0.kernelUs)) times as fast as plain Swift"
        }
        return [head] + rows + searches + ["  \(rounded(stepUs)) us a step, \(rounded(bytesPerSecond / 1e9))\(memory ?? " GB/s")"]
    }
}
