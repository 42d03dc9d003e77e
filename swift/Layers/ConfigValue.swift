/// JSON as a value, and typed reads from it that name the key, what was found and what is wanted.
///
/// Made by JSONText. Every number that a graph is built from passes a range here, so nothing behind it can overflow,
/// divide by zero or ask for absurd memory. Knows nothing of files.

/// Any JSON value.
public enum ConfigValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([ConfigValue])
    case object([String: ConfigValue])

    /// As a message shows it, at most 60 characters.
    public var shown: String {
        let text: String
        switch self {
        case .null: text = "null"
        case .bool(let value): text = "\(value)"
        case .integer(let value): text = "\(value)"
        case .number(let value): text = "\(value)"
        case .string(let value): text = "\"\(value)\""
        case .array(let values): text = "a list of \(values.count)"
        case .object(let values): text = "an object of \(values.count)"
        }
        return text.count > 60 ? "\(text.prefix(57))..." : text
    }
}

/// Typed reads from one object of config.json.
public struct ConfigReader: Sendable {
    /// The object's members.
    public let members: [String: ConfigValue]
    /// Where the object stands, for messages: `config.json` or `config.json: rope_scaling`.
    public let place: String

    /// Reads members of `members`.
    public init(_ members: [String: ConfigValue], place: String = "config.json") {
        self.members = members
        self.place = place
    }

    /// Whether the key is there with something other than null.
    public func has(_ key: String) -> Bool {
        (members[key] ?? .null) != .null
    }

    /// An integer within `range`.
    /// - Parameter default: Taken when the key is absent or null; nil makes the key required.
    public func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int? = nil) throws -> Int {
        let wanted = "an integer from \(range.lowerBound) to \(range.upperBound)"
        switch members[key] ?? .null {
        case .null:
            if let fallback { return fallback }
        case .integer(let value) where range.contains(value):
            return value
        case .number(let value):
            // 1e6 and 32.0 are integers in the eyes of the tools that write these files.
            if let whole = Int(exactly: value), range.contains(whole) { return whole }
        default: break
        }
        throw wrong(key, wanted: wanted)
    }

    /// A finite number within `range`.
    /// - Parameter default: Taken when the key is absent or null; nil makes the key required.
    public func number(_ key: String, in range: ClosedRange<Double>, default fallback: Double? = nil) throws -> Double {
        switch members[key] ?? .null {
        case .null:
            if let fallback { return fallback }
        case .integer(let value) where range.contains(Double(value)):
            return Double(value)
        case .number(let value) where range.contains(value):
            return value
        default: break
        }
        throw wrong(key, wanted: "a number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// True or false.
    public func bool(_ key: String, default fallback: Bool) throws -> Bool {
        switch members[key] ?? .null {
        case .null: return fallback
        case .bool(let value): return value
        default: throw wrong(key, wanted: "true or false")
        }
    }

    /// A string, or nil when the key is absent or null.
    public func string(_ key: String) throws -> String? {
        switch members[key] ?? .null {
        case .null: return nil
        case .string(let value): return value
        default: throw wrong(key, wanted: "a string")
        }
    }

    /// A list, or nil when the key is absent or null.
    public func list(_ key: String) throws -> [ConfigValue]? {
        switch members[key] ?? .null {
        case .null: return nil
        case .array(let values): return values
        default: throw wrong(key, wanted: "a list")
        }
    }

    /// A nested object, or nil when the key is absent or null.
    public func object(_ key: String) throws -> ConfigReader? {
        switch members[key] ?? .null {
        case .null: return nil
        case .object(let values): return ConfigReader(values, place: "\(place): \(key)")
        default: throw wrong(key, wanted: "an object")
        }
    }

    /// The error for a key whose value does not fit.
    public func wrong(_ key: String, wanted: String) -> CheckpointError {
        guard let value = members[key] else {
            return CheckpointError(.model, "\(place): \(key) is missing; wanted \(wanted)")
        }
        return CheckpointError(.model, "\(place): \(key) is \(value.shown); wanted \(wanted)")
    }
}
