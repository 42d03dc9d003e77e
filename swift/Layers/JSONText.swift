/// A strict JSON reader for files that strangers made.
///
/// Foundation's JSONDecoder ends the process on some malformed input (Swift 6.0.3 on Linux: a control character in a
/// key), and keeps one of two equal keys without a word. This one bounds depth, refuses duplicate keys, and has no way
/// to trap. Beyond RFC 8259 it takes what Python's json module writes: NaN, Infinity and -Infinity.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// Reads one JSON document.
public struct JSONText {
    /// Why a document can't be read.
    public struct Failure: Error, Sendable, Equatable {
        /// Reason and byte offset, e.g. `unexpected byte 0x7D at 12`.
        public let message: String

        /// A failure with its reason.
        public init(message: String) { self.message = message }
    }

    /// Nesting that is followed; config.json and headers need four levels.
    private static let depthMax = 64

    private let bytes: [UInt8]
    private var index = 0

    /// The value of a whole document.
    /// - Throws: `Failure` at the first byte that does not fit.
    public static func parse(_ data: Data) throws -> ConfigValue {
        var text = JSONText(bytes: [UInt8](data))
        let value = try text.value(depth: 0)
        text.skipSpace()
        guard text.index == text.bytes.count else { throw text.unexpected() }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func unexpected() -> Failure {
        guard let next else { return Failure(message: "the text ends at byte \(index)") }
        return Failure(message: "unexpected byte 0x\(String(next, radix: 16, uppercase: true)) at \(index)")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard next == byte else { throw unexpected() }
        index += 1
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws -> ConfigValue {
        guard depth < JSONText.depthMax else {
            throw Failure(message: "more than \(JSONText.depthMax) levels at \(index)")
        }
        skipSpace()
        guard let first = next else { throw unexpected() }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "N"): return try word("NaN", .number(.nan))
        case UInt8(ascii: "I"): return try word("Infinity", .number(.infinity))
        default: return try number()
        }
    }

    private mutating func word(_ text: String, _ value: ConfigValue) throws -> ConfigValue {
        for byte in text.utf8 { try expect(byte) }
        return value
    }

    private mutating func object(depth: Int) throws -> ConfigValue {
        try expect(UInt8(ascii: "{"))
        var members: [String: ConfigValue] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            let key = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"))
            let member = try value(depth: depth + 1)
            guard members.updateValue(member, forKey: key) == nil else {
                throw Failure(message: "the key \"\(key)\" is there twice, at \(index)")
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
        return .object(members)
    }

    private mutating func array(depth: Int) throws -> ConfigValue {
        try expect(UInt8(ascii: "["))
        var values: [ConfigValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
        return .array(values)
    }

    private mutating func number() throws -> ConfigValue {
        let start = index
        let negative = take(UInt8(ascii: "-"))
        if negative, next == UInt8(ascii: "I") { return try word("Infinity", .number(-.infinity)) }
        // A zero is not followed by digits.
        if !take(UInt8(ascii: "0")) { try digits() }
        var whole = true
        if take(UInt8(ascii: ".")) {
            whole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            whole = false
            if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if whole, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text) else { throw Failure(message: "unreadable number at \(start)") }
        return .number(number)
    }

    private mutating func digits() throws {
        guard let first = next, (0x30...0x39).contains(first) else { throw unexpected() }
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
    }

    private mutating func string() throws -> String {
        let start = index
        try expect(UInt8(ascii: "\""))
        var utf8: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw unexpected() }
            index += 1
            if byte == UInt8(ascii: "\\") {
                utf8 += try escape()
            } else {
                utf8.append(byte)
            }
        }
        try expect(UInt8(ascii: "\""))
        guard let text = String(bytes: utf8, encoding: .utf8) else {
            throw Failure(message: "the string at \(start) is not UTF-8")
        }
        return text
    }

    /// What stands after a backslash, as UTF-8.
    private mutating func escape() throws -> [UInt8] {
        let plain: [UInt8: UInt8] = [
            0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
        ]
        guard let kind = next else { throw unexpected() }
        if let byte = plain[kind] {
            index += 1
            return [byte]
        }
        try expect(UInt8(ascii: "u"))
        var code = try hexadecimal()
        if (0xD800..<0xDC00).contains(code) {
            try expect(UInt8(ascii: "\\"))
            try expect(UInt8(ascii: "u"))
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw Failure(message: "half a surrogate pair at \(index)") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw Failure(message: "half a surrogate pair at \(index)") }
        return [UInt8](String(Character(scalar)).utf8)
    }

    private mutating func hexadecimal() throws -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw unexpected() }
            index += 1
            code = code << 4 + UInt32(digit)
        }
        return code
    }
}
