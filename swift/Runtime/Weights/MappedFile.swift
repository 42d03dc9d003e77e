/// A file's bytes as memory: pages of the file itself, which all processes share and nothing copies.
///
/// Owner: whoever holds the object; the memory goes when it goes. The mapping begins at a multiple of 2 MiB and asks
/// for pages of that size, which file systems with large folios give (measured: a cold read fills 2 MiB pages, and
/// products then read a sixth faster than from 4 KiB pages). A file that is cut short under a running process reads as
/// zeros from there on and says so (`requireWhole`); one that is replaced by a rename stays as it was.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Engine
import Kernels
import Layers

/// The first `count` bytes of a file.
final class MappedFile {
    /// Where the mapping begins; read only.
    let start: UnsafeMutableRawPointer
    /// Bytes of the file.
    let count: Int
    private let reserved: UnsafeMutableRawPointer
    private let reservedCount: Int
    private let name: String
    private let watch: MemoryWatch

    private static let hugePage = 2 << 20

    /// - Parameter descriptor: Of an open file of at least `count` bytes; `count` > 0.
    /// - Throws: `CheckpointError(.io)` when the system refuses.
    init(descriptor: Int32, count: Int, name: String) throws {
        self.name = name
        self.count = count
        reservedCount = count + MappedFile.hugePage
        let space = mmap(nil, reservedCount, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let space, space != MAP_FAILED else { throw MappedFile.failed("cannot map \(name)") }
        reserved = space
        let address = (UInt(bitPattern: space) + UInt(MappedFile.hugePage) - 1) & ~(UInt(MappedFile.hugePage) - 1)
        let mapped = mmap(
            UnsafeMutableRawPointer(bitPattern: address), count, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else {
            let error = MappedFile.failed("cannot map \(name)")
            munmap(space, reservedCount)
            throw error
        }
        start = mapped
        watch = MemoryWatch(start: mapped, count: count)
        #if os(Linux)
            // A wish: kernels and file systems without large pages refuse, and nothing is lost.
            _ = madvise(mapped, count, MADV_HUGEPAGE)
        #endif
    }

    deinit { munmap(reserved, reservedCount) }

    /// Brings a range into memory, so that the first step finds it there.
    /// - Throws: `CheckpointError(.io)` when it can't be read: the disk fails, or the file has become shorter.
    func populate(_ range: Range<Int>) throws {
        #if os(Linux)
            let page = Int(getpagesize())
            let first = range.lowerBound / page * page
            let advice: Int32 = 22  // MADV_POPULATE_READ, Linux 5.14; not in all headers.
            while madvise(start + first, range.upperBound - first, advice) != 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                // Older kernels: pages come in when they are first used.
                if errno == EINVAL { return }
                throw MappedFile.failed("cannot read \(name) at \(range.lowerBound)")
            }
        #endif
    }

    /// - Throws: `EngineError(.io)` once something has read where the file has no bytes any more. It stays so.
    func requireWhole() throws {
        guard watch.isBroken else { return }
        throw EngineError(
            .io, "\(name) was cut short, or can't be read any more, while it was in use; load the model again")
    }

    private static func failed(_ attempt: String) -> CheckpointError {
        CheckpointError(.io, "\(attempt): \(String(cString: strerror(errno)))")
    }
}
