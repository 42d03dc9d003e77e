/// JSON out: keys sorted, so that equal values give equal text.

import CoreCommands
import Engine

/// Encodes a value as UTF-8 JSON.
/// - Throws: `internal` if it has a number that JSON can't say.
func encodeJSON(_ value: some Encodable) throws(EngineError) -> [UInt8] {
    do {
        return try jsonBytes(value)
    } catch {
        throw EngineError(.internal, "Cannot write \(type(of: value)) as JSON: \(error)")
    }
}
