/// Which modules of a checkpoint are quantized, and how.
///
/// Source: mlx-lm `utils.py` at d78bf58: an entry of config.json's `quantization` that is named after the module
/// decides; else a module is quantized exactly if the files hold its `.scales`, with the global values.

/// Affine quantization: w ≈ scale * q + bias for each group of a row.
public struct Quantization: Hashable, Sendable {
    /// 2, 3, 4, 5, 6 or 8.
    public let bits: Int
    /// Elements that share a scale and a bias: 32, 64 or 128.
    public let groupSize: Int

    /// As messages show it.
    public var description: String { "\(bits)-bit g\(groupSize) affine" }

    /// - Throws: When MLX has no kernel for the pair.
    public init(bits: Int, groupSize: Int, place: String) throws {
        guard [2, 3, 4, 5, 6, 8].contains(bits) else {
            throw CheckpointError(.model, "\(place): bits is \(bits); wanted 2, 3, 4, 5, 6 or 8")
        }
        guard [32, 64, 128].contains(groupSize) else {
            throw CheckpointError(.model, "\(place): group_size is \(groupSize); wanted 32, 64 or 128")
        }
        self.bits = bits
        self.groupSize = groupSize
    }
}

/// The quantization settings of one config.json.
public struct QuantizationSettings: Sendable {
    /// What one entry says of its module.
    enum Entry: Sendable {
        case dense
        case global
        case own(Quantization)
    }

    /// For modules without an entry of their own.
    let global: Quantization?
    /// By module path.
    let entries: [String: Entry]

    /// Reads `quantization`, else `quantization_config`.
    /// - Throws: When a mode or a method is not supported, by name.
    public init(_ config: ConfigReader) throws {
        let found: ConfigReader
        if let own = try config.object("quantization") {
            found = own
        } else if let converted = try config.object("quantization_config") {
            if let method = try converted.string("quant_method") {
                throw CheckpointError(
                    .model,
                    "\(converted.place): quant_method \"\(method)\" is not supported; wanted an MLX checkpoint (affine)"
                )
            }
            found = converted
        } else {
            global = nil
            entries = [:]
            return
        }
        global = try QuantizationSettings.read(found)
        entries = try QuantizationSettings.entries(of: found)
    }

    /// How the module at `path` is stored; nil: dense.
    /// - Parameter hasScales: Whether the files hold `path.scales`.
    public func decide(_ path: String, hasScales: Bool) throws -> Quantization? {
        switch entries[path] {
        case .dense: return nil
        case .own(let own): return own
        case .global, nil:
            guard hasScales else { return nil }
            guard let global else {
                throw CheckpointError(.model, "\(path).scales exists, but config.json has no quantization settings")
            }
            return global
        }
    }

    private static func entries(of found: ConfigReader) throws -> [String: Entry] {
        let settings: Set<String> = ["group_size", "bits", "mode"]
        var entries: [String: Entry] = [:]
        for (path, value) in found.members where !settings.contains(path) {
            switch value {
            case .bool(let quantized): entries[path] = quantized ? .global : .dense
            case .object(let members):
                entries[path] = .own(try read(ConfigReader(members, place: "\(found.place): \(path)")))
            // Other scalars are notes of the tool that wrote the file; modules are only ever named by the two above.
            default: continue
            }
        }
        return entries
    }

    private static func read(_ found: ConfigReader) throws -> Quantization {
        let mode = try found.string("mode") ?? "affine"
        guard mode == "affine" else {
            throw CheckpointError(.model, "\(found.place): mode \"\(mode)\" is not supported; wanted \"affine\"")
        }
        let bits = try found.integer("bits", in: 1...32)
        let groupSize = try found.integer("group_size", in: 1...4096)
        return try Quantization(bits: bits, groupSize: groupSize, place: found.place)
    }
}
