// The CPU primitives' switches: what has no counterpart in mlx-swift. Process-wide; set before the first step.
import CMLX

/// The CPU primitives of this process.
public enum CPUKernels {
    /// A switch that was refused, with the reason.
    public struct Refusal: Error, CustomStringConvertible {
        /// What was asked and what is possible.
        public let description: String
    }

    /// Instruction set in use: avx512, avx2, neon or plain.
    public static var variant: String { String(cString: cmlx_cpu_variant()) }

    /// Instruction sets that this machine can run, best first.
    public static var availableVariants: [String] {
        var names: [String] = []
        while let name = cmlx_cpu_available_variant(names.count) { names.append(String(cString: name)) }
        return names
    }

    /// Uses another instruction set, for tests.
    /// - Throws: `Refusal` for a name that is not in `availableVariants`.
    public static func setVariant(_ name: String) throws(Refusal) {
        try check(cmlx_cpu_set_variant(name))
    }

    /// Threads that work on an op.
    public static var threads: Int { Int(cmlx_cpu_threads()) }

    /// Changes the number of threads: 1 to 64; 0: what this process may use.
    /// - Throws: `Refusal`.
    public static func setThreads(_ count: Int) throws(Refusal) {
        try check(cmlx_cpu_set_threads(Int32(clamping: count)))
    }

    /// Whether quantized products round activations to int8.
    public static var isFast: Bool { cmlx_cpu_is_fast() }

    /// Chooses between float32 activations and int8 ones in quantized products.
    /// - Throws: `Refusal`.
    public static func setFast(_ fast: Bool) throws(Refusal) {
        try check(cmlx_cpu_set_fast(fast))
    }

    private static func check(_ succeeded: Bool) throws(Refusal) {
        guard succeeded else { throw Refusal(description: String(cString: cmlx_last_error())) }
    }
}
