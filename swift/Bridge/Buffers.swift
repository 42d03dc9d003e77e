/// The caller's memory: pointers and lengths become Swift values, and back. Everything is checked before it is read
/// and copied before a function returns; no pointer is kept.

import CABI
import Engine

/// Copies `count` elements.
/// - Parameters:
///   - name: Of the parameter, for the error.
///   - most: The largest count allowed; checked before anything is read.
/// - Throws: `argument` if the pointer is null with a count, or the count is over `most`.
func copy<Element: BitwiseCopyable>(
    _ start: UnsafePointer<Element>?, _ count: UInt32, _ name: String, most: Int
) throws(EngineError) -> [Element] {
    guard count <= most else {
        throw EngineError(.argument, "\(name) has \(count) elements; wanted are at most \(most)")
    }
    guard count > 0 else { return [] }
    guard let start else {
        throw EngineError(.argument, "\(name) is null with a count of \(count); wanted is a pointer")
    }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
}

/// Copies a path.
/// - Throws: `argument` if it is empty, too long, not UTF-8, or contains a zero byte.
func copyPath(_ start: UnsafePointer<UInt8>?, _ count: UInt32) throws(EngineError) -> String {
    let bytes = try copy(start, count, "path", most: BridgeLimits.pathBytesMax)
    let path = String(decoding: bytes, as: UTF8.self)
    guard !bytes.isEmpty, !bytes.contains(0), Array(path.utf8) == bytes else {
        throw EngineError(.argument, "path is empty, has a zero byte or is not UTF-8; wanted is a directory's path")
    }
    return path
}

/// Where a result goes.
/// - Throws: `argument` if the caller gave no place.
func require<Pointee>(
    _ place: UnsafeMutablePointer<Pointee>?, _ name: String
) throws(EngineError) -> UnsafeMutablePointer<Pointee> {
    guard let place else { throw EngineError(.argument, "\(name) is null; wanted is a pointer") }
    return place
}

/// Writes a text as the header says: whole or not at all, with its length in any case.
/// - Throws: `space` if `cap` is too small, `argument` for a null pointer.
func write(
    _ text: [UInt8], to start: UnsafeMutablePointer<UInt8>?, _ cap: UInt32, _ lengthOut: UnsafeMutablePointer<UInt32>?
) throws(EngineError) {
    let length = try require(lengthOut, "len_out")
    length.pointee = UInt32(clamping: text.count)
    guard text.count <= cap else {
        throw EngineError(.space, "The result has \(text.count) bytes; cap is \(cap)")
    }
    guard !text.isEmpty else { return }
    try require(start, "json").update(from: text, count: text.count)
}

/// Bounds that only the bridge knows.
enum BridgeLimits {
    /// Bytes of a path: PATH_MAX of Linux.
    static let pathBytesMax = 4096
    /// Engines at once. One thread owns MLX, and it is the engine's.
    static let enginesMax = 1
    /// Words of one mask call: as many rows as are kept, for a vocabulary of a million.
    static let maskWordsMax = Limits.maskAheadMax * (1 << 20) / 32
    /// Events of one wait, whatever the caller has room for: 2 MB.
    static let waitEventsMax = 65_536
}
