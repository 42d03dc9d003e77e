// Memory that a file fills, watched: when the file is cut short, reads give zeros and the watch says so.
import CMLX

/// A watch over one mapping.
public final class CPUMapping: Sendable {
    private let watch: Int32

    /// Begins to watch; takes over SIGBUS for all watched memory. Beyond 4,096 at a time nothing is watched.
    /// - Parameter start: `count` bytes that a mapping of a file fills, for as long as the object lives.
    public init(start: UnsafeRawPointer, count: Int) { watch = cmlx_mapped_watch(start, count) }

    deinit { cmlx_mapped_release(watch) }

    /// Whether a page could not be read; zeros are there from it on.
    public var isBroken: Bool { cmlx_mapped_is_broken(watch) }
}
