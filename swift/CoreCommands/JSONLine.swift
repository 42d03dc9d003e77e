/// Results as JSON, one line each; the same text that the bridge gives.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes a value with sorted keys.
/// - Throws: `EncodingError` if it has a number that JSON can't say.
public func jsonBytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try Array(encoder.encode(value))
}

/// As `jsonBytes`, as text.
/// - Throws: `EncodingError`.
public func jsonLine(_ value: some Encodable) throws -> String {
    String(decoding: try jsonBytes(value), as: UTF8.self)
}
