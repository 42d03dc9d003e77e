/// One safetensors file: its header, checked, and its bytes.
///
/// Layout: u64 header length, JSON header, data. The header names each tensor's dtype, shape and byte range in the
/// data; ranges tile the data without gap or overlap. Anything else is refused with file, tensor and reason, so nothing
/// behind this file meets a wrong size. The header is read with `pread`; a tensor's bytes are lent as pages of the
/// file, or copied into memory of their own where pages will not do.
///
/// Source: https://github.com/huggingface/safetensors (README, Format), 2026-08.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Layers

/// Element type of a tensor as the header spells it.
public enum TensorType: String, Sendable, CaseIterable {
    case bool = "BOOL"
    case u8 = "U8"
    case i8 = "I8"
    case f8e4m3 = "F8_E4M3"
    case f8e5m2 = "F8_E5M2"
    case f8e8m0 = "F8_E8M0"
    case u16 = "U16"
    case i16 = "I16"
    case f16 = "F16"
    case bf16 = "BF16"
    case u32 = "U32"
    case i32 = "I32"
    case f32 = "F32"
    case u64 = "U64"
    case i64 = "I64"
    case f64 = "F64"

    /// Bytes of one element.
    public var size: Int {
        switch self {
        case .bool, .u8, .i8, .f8e4m3, .f8e5m2, .f8e8m0: 1
        case .u16, .i16, .f16, .bf16: 2
        case .u32, .i32, .f32: 4
        case .u64, .i64, .f64: 8
        }
    }
}

/// What the header says of one tensor.
public struct TensorEntry: Sendable, Equatable {
    /// Element type.
    public let type: TensorType
    /// Dimensions, slowest first.
    public let shape: [Int]
    /// Bytes in the data part.
    public let range: Range<Int>
}

/// An open safetensors file with a checked header.
public final class SafetensorsFile {
    /// Bounds on what a header may ask for.
    enum Limits {
        /// A hundred thousand tensors; the largest published shards have a few thousand.
        static let headerBytes = 16 << 20
        static let dimensions = 8
    }

    /// For messages: the file's name in its directory.
    public let name: String
    /// By tensor name.
    public let entries: [String: TensorEntry]
    private let file: RegularFile
    private let dataStart: Int
    /// Made by the first tensor that is lent; goes with the last array that uses it.
    private(set) weak var mapping: MappedFile?

    /// Opens the file and checks its header.
    /// - Throws: `CheckpointError` with file, tensor and reason.
    public init(_ url: URL) throws {
        name = url.lastPathComponent
        file = try RegularFile(url)
        let size = file.size
        guard size >= 8 else { throw SafetensorsFile.broken(name, "it has \(size) bytes; wanted 8 at least") }
        let prefix = try file.read(at: 0, count: 8)
        let length = UInt64(littleEndian: prefix.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        guard length >= 2, length <= UInt64(Limits.headerBytes), length <= UInt64(size - 8) else {
            let limit = min(Limits.headerBytes, size - 8)
            throw SafetensorsFile.broken(
                name, "the header length is \(length); wanted 2 to \(limit) (the file has \(size) bytes)")
        }
        dataStart = 8 + Int(length)
        let header = try file.read(at: 8, count: Int(length))
        entries = try SafetensorsFile.parse(header, name: name, dataBytes: size - dataStart)
    }

    /// Lends one tensor's bytes where they lie in the file, brought into memory.
    /// - Returns: The first byte and what keeps it; nil if it is not aligned to its elements, which some writers' files
    ///   are not.
    func lend(_ entry: TensorEntry) throws -> (bytes: UnsafeMutableRawPointer, owner: MappedFile)? {
        let start = dataStart + entry.range.lowerBound
        guard start % entry.type.size == 0, !entry.range.isEmpty else { return nil }
        let owner = try mapping ?? file.map()
        mapping = owner
        try owner.populate(start..<start + entry.range.count)
        return (owner.start + start, owner)
    }

    /// Reads one tensor's bytes into page-aligned memory.
    /// - Returns: Owned memory; the caller frees it with `free`. At least one byte long.
    func readOwned(_ entry: TensorEntry) throws -> UnsafeMutableRawPointer {
        let page = Int(getpagesize())
        var memory: UnsafeMutableRawPointer?
        let bytes = (max(entry.range.count, 1) + page - 1) / page * page
        guard posix_memalign(&memory, page, bytes) == 0, let memory else {
            throw CheckpointError(.io, "\(name): cannot get \(bytes) bytes of memory for a tensor")
        }
        do {
            try file.read(at: dataStart + entry.range.lowerBound, into: memory, count: entry.range.count)
        } catch {
            free(memory)
            throw error
        }
        return memory
    }

    private static func parse(_ header: Data, name: String, dataBytes: Int) throws -> [String: TensorEntry] {
        let members: [String: ConfigValue]
        do {
            guard case .object(let found) = try JSONText.parse(header) else {
                throw JSONText.Failure(message: "it is no object")
            }
            members = found
        } catch let failure as JSONText.Failure {
            throw broken(name, "the header is not what the format says: \(failure.message)")
        }
        var entries: [String: TensorEntry] = [:]
        for (tensor, member) in members where tensor != "__metadata__" {
            entries[tensor] = try check(member, place: "tensor \(tensor)", file: name, dataBytes: dataBytes)
        }
        try requireTiling(entries, name: name, dataBytes: dataBytes)
        return entries
    }

    private static func check(
        _ member: ConfigValue, place: String, file: String, dataBytes: Int
    ) throws -> TensorEntry {
        guard case .object(let fields) = member, case .string(let dtype) = fields["dtype"],
            let shape = integers(fields["shape"]), let offsets = integers(fields["data_offsets"])
        else {
            throw broken(file, "\(place): wanted dtype, shape and data_offsets")
        }
        guard let type = TensorType(rawValue: dtype) else {
            throw broken(file, "\(place): dtype \"\(dtype)\" is unknown")
        }
        guard shape.count <= Limits.dimensions else {
            throw broken(file, "\(place): \(shape.count) dimensions; wanted \(Limits.dimensions) at most")
        }
        guard offsets.count == 2, let start = offsets.first, let end = offsets.last,
            start >= 0, start <= end, end <= dataBytes
        else {
            throw broken(file, "\(place): data_offsets \(offsets) are not a range within \(dataBytes) bytes of data")
        }
        var bytes = type.size
        for dimension in shape {
            let (product, overflow) = bytes.multipliedReportingOverflow(by: dimension)
            guard dimension >= 0, !overflow else { throw broken(file, "\(place): shape \(shape) makes no sense") }
            bytes = product
        }
        guard bytes == end - start else {
            throw broken(
                file, "\(place): shape \(shape) of \(dtype) takes \(bytes) bytes, data_offsets hold \(end - start)")
        }
        return TensorEntry(type: type, shape: shape, range: start..<end)
    }

    private static func integers(_ value: ConfigValue?) -> [Int]? {
        guard case .array(let values) = value else { return nil }
        var integers: [Int] = []
        for case .integer(let integer) in values { integers.append(integer) }
        return integers.count == values.count ? integers : nil
    }

    /// The format wants the data covered exactly once.
    private static func requireTiling(_ entries: [String: TensorEntry], name: String, dataBytes: Int) throws {
        let ordered = entries.sorted {
            ($0.value.range.lowerBound, $0.value.range.upperBound, $0.key)
                < ($1.value.range.lowerBound, $1.value.range.upperBound, $1.key)
        }
        var end = 0
        for (tensor, entry) in ordered {
            guard entry.range.lowerBound == end else {
                let how = entry.range.lowerBound < end ? "overlaps the tensor before it" : "leaves a gap before it"
                throw broken(name, "tensor \(tensor): data_offsets begin at \(entry.range.lowerBound); it \(how)")
            }
            end = entry.range.upperBound
        }
        guard end == dataBytes else {
            throw broken(name, "tensors take \(end) bytes, the file holds \(dataBytes) after the header")
        }
    }

    private static func broken(_ name: String, _ reason: String) -> CheckpointError {
        CheckpointError(.format, "\(name): \(reason)")
    }
}
