/// What the kernels run with on the CPU: the one place outside the kernels that knows whether this build has our CPU
/// primitives. Without them (Metal, or a real mlx-swift elsewhere) MLX decides, and there is nothing to set.

#if canImport(MLXCPU)
import MLXCPU
#endif

/// The CPU side of the kernels, process-wide.
public enum Processor {
    /// A setting that can't be had, with the reason.
    public struct Refusal: Error {
        /// What was asked and what is possible.
        public let message: String
    }

    #if canImport(MLXCPU)
    /// Instruction set of our primitives: avx512, avx2, neon or plain; nil: MLX's own kernels run.
    public static var variant: String? { CPUKernels.variant }
    /// Threads of our primitives; nil: MLX decides.
    public static var threads: Int? { CPUKernels.threads }

    /// Whether quantized products round activations to int8.
    public static var roundsActivations: Bool { CPUKernels.isFast }

    /// Sets threads (1 to 64; 0: what this process may use) and whether quantized products round activations to int8
    /// (nil: they do, since that loses 0.2 % of perplexity and makes a step a quarter shorter).
    /// - Throws: `Refusal`.
    public static func configure(threads: Int, fast: Bool?) throws(Refusal) {
        do throws(CPUKernels.Refusal) {
            try CPUKernels.setThreads(threads)
            try CPUKernels.setFast(fast ?? true)
        } catch {
            throw Refusal(message: error.description)
        }
    }

    /// Runs `body` in exact arithmetic, for comparisons whose bounds are exact's. Nothing else may use MLX meanwhile.
    public static func exactly<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = CPUKernels.isFast
        try? CPUKernels.setFast(false)
        defer { try? CPUKernels.setFast(before) }
        return try body()
    }
    #else
    /// Instruction set of our primitives: avx512, avx2, neon or plain; nil: MLX's own kernels run.
    public static var variant: String? { nil }
    /// Threads of our primitives; nil: MLX decides.
    public static var threads: Int? { nil }

    /// Whether quantized products round activations to int8.
    public static var roundsActivations: Bool { false }

    /// Runs `body`: MLX has one arithmetic.
    public static func exactly<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try body() }

    /// Takes the defaults only: here MLX decides.
    /// - Throws: `Refusal` for anything else.
    public static func configure(threads: Int, fast: Bool?) throws(Refusal) {
        guard threads == 0, fast != true else {
            throw Refusal(message: "threads and cpu_arithmetic are settings of the CPU kernels, which this build lacks")
        }
    }
    #endif
}
