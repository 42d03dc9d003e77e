/// A kernel against its reference, as `rmx-core selftest` and `rapid-mlx doctor` run it on the user's machine. The
/// tests of this folder compare more; these are the cases that tell a broken machine, driver or build.

/// What one comparison found.
public struct KernelDifference: Sendable {
    /// Largest absolute difference between kernel and reference; not a number if either gave one.
    public var error: Float
    /// The largest error that passes; 0: the bits must be equal.
    public var allowed: Float
    /// Pairs them.
    public init(error: Float, allowed: Float) {
        self.error = error
        self.allowed = allowed
    }
}

/// One comparison.
public struct KernelCase: Sendable {
    /// Shapes and types, e.g. `4-bit g32, rows 1 and 16 of [16, 576] x [1536, 576]`.
    public var name: String
    /// Runs both sides.
    public var compare: @Sendable () throws -> KernelDifference
    /// Names a comparison.
    public init(_ name: String, _ compare: @escaping @Sendable () throws -> KernelDifference) {
        self.name = name
        self.compare = compare
    }
}

/// A kernel and its cases.
public struct KernelCheck: Sendable {
    /// The folder's name, e.g. `QuantizedProduct`.
    public var name: String
    /// Cases that run in well under a second together.
    public var cases: [KernelCase]
    /// Further cases, for `--deep`.
    public var deepCases: [KernelCase]
    /// Names a kernel.
    public init(_ name: String, _ cases: [KernelCase], deep: [KernelCase] = []) {
        self.name = name
        self.cases = cases
        deepCases = deep
    }
}

/// The kernels of this folder; each adds its own.
public enum KernelChecks {
    /// In the order of the folder.
    public static let all: [KernelCheck] = [FeedForwardBlock.check, AttentionBlock.check, TokenTable.check, LogitRow.check]
}
