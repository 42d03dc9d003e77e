/// JSON out: keys sorted, so that equal values give equal text.

import Engine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes a value as UTF-8 JSON.
/// - Throws: `internal` if it has a number that JSON can't say.
func encodeJSON(_ value: some Encodable) throws(EngineError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
        return try Array(encoder.encode(value))
    } catch {
        throw EngineError(.internal, "Cannot write \(type(of: value)) as JSON: \(error)")
    }
}
