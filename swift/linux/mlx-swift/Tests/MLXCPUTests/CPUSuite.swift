// What the suites of the CPU kernels share: one serialized parent, because variant, threads and arithmetic are the
// process's; seeded numbers; float64 references.
import MLX
import Testing

@testable import MLXCPU

/// All suites of this target, one after the other.
@Suite(.serialized) struct CPUSuite {}

/// Runs `body` with every variant that this machine has, exact and fast, on the threads that it has.
func withEveryVariant(_ body: (_ variant: String, _ fast: Bool) throws -> Void) throws {
    let variant = CPUKernels.variant
    defer {
        try? CPUKernels.setVariant(variant)
        try? CPUKernels.setFast(false)
    }
    for name in CPUKernels.availableVariants {
        try CPUKernels.setVariant(name)
        for fast in [false, true] {
            try CPUKernels.setFast(fast)
            try body(name, fast)
        }
    }
}

/// Runs `body` with `count` threads.
func withThreads<Result>(_ count: Int, _ body: () throws -> Result) throws -> Result {
    let before = CPUKernels.threads
    try CPUKernels.setThreads(count)
    defer { try? CPUKernels.setThreads(before) }
    return try body()
}

/// Numbers that are the same in every run (splitmix64).
struct Seeded {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[Int(next() % UInt64(choices.count))] }

    mutating func int(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// Normal-like values: sums of uniforms.
    mutating func normal(_ shape: [Int]) -> MLXArray {
        let count = shape.reduce(1, *)
        var values = [Float](repeating: 0, count: count)
        for i in 0..<count {
            let bits = next()
            var sum: Float = 0
            for part in 0..<4 { sum += Float((bits >> (16 * UInt64(part))) & 0xFFFF) / 32768 - 1 }
            values[i] = sum
        }
        return MLXArray(values, shape)
    }
}

/// Elements as Double.
func doubles(_ array: MLXArray) -> [Double] { array.asType(.float32).asArray(Float.self).map(Double.init) }

/// The bits of rows [R, N].
func bits(_ array: MLXArray) -> [UInt32] { array.asType(.float32).asArray(Float.self).map(\.bitPattern) }
