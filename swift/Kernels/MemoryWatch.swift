/// A watch over memory that a file fills: whether the file was cut short, or its disk failed, since it was mapped.
///
/// With our CPU primitives such memory turns into zeros, and the watch says so; without them nothing is mapped, and
/// nothing can break.

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A watch over one mapping.
public final class MemoryWatch {
    #if canImport(MLXCPU)
        private let mapping: CPUMapping
    #endif

    /// - Parameter start: `count` bytes of a mapped file, there for as long as the object lives.
    public init(start: UnsafeRawPointer, count: Int) {
        #if canImport(MLXCPU)
            mapping = CPUMapping(start: start, count: count)
        #endif
    }

    /// Whether bytes were missing when something read them. What was computed since is worthless.
    public var isBroken: Bool {
        #if canImport(MLXCPU)
            mapping.isBroken
        #else
            false
        #endif
    }
}
