/// An open regular file that is read at offsets.
///
/// Opens without blocking, so that a pipe or a device in a model directory is an error and not a hang. Short reads and
/// interrupts are dealt with here.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Layers

/// A file descriptor with a known size.
final class RegularFile {
    /// Bytes when it was opened.
    let size: Int
    private let descriptor: Int32
    private let name: String

    /// - Throws: `CheckpointError(.io)` when the file is missing, unreadable or not a regular file.
    init(_ url: URL) throws {
        name = url.lastPathComponent
        let path = url.path
        let opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { throw RegularFile.failed("cannot open \(path)") }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw CheckpointError(.io, "\(path) is not a regular file")
        }
        descriptor = opened
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// The file as memory.
    /// - Throws: `CheckpointError(.io)` when it is empty, has become shorter, or the system refuses.
    func map() throws -> MappedFile {
        var status = stat()
        guard fstat(descriptor, &status) == 0, size > 0, Int(status.st_size) >= size else {
            throw CheckpointError(.io, "\(name) has \(status.st_size) bytes now; wanted \(size), and one at least")
        }
        return try MappedFile(descriptor: descriptor, count: size, name: name)
    }

    /// Copies `count` bytes at `offset`.
    func read(at offset: Int, count: Int) throws -> Data {
        var data = Data(count: count)
        try data.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            try read(at: offset, into: base, count: count)
        }
        return data
    }

    /// Copies `count` bytes at `offset` to `memory`.
    func read(at offset: Int, into memory: UnsafeMutableRawPointer, count: Int) throws {
        var done = 0
        while done < count {
            // Some systems refuse more than 2 GiB a call.
            let part = min(count - done, 1 << 30)
            let got = pread(descriptor, memory + done, part, off_t(offset + done))
            if got < 0 {
                if errno == EINTR { continue }
                throw RegularFile.failed("cannot read \(name) at \(offset + done)")
            }
            guard got > 0 else {
                throw CheckpointError(.io, "\(name) ended at byte \(offset + done); wanted \(offset + count)")
            }
            done += got
        }
    }

    private static func failed(_ attempt: String) -> CheckpointError {
        CheckpointError(.io, "\(attempt): \(String(cString: strerror(errno)))")
    }
}
