/// Which modules of a checkpoint are quantized, and how.
///
/// Source: mlx-lm `utils.py` at d78bf58: an entry of config.json's `quantization` that is named after the module
/// decides; else a module is quantized exactly if the files hold its `.scales`, with the global values.

import MLX

/// How each group of a row is quantized: affine, w ≈ scale * q + bias; or mxfp4 and mxfp8 (OCP microscaling), w ≈ 2^e
/// times a float of 4 (E2M1) or 8 (E4M3) bits.
public struct Quantization: Hashable, Sendable {
    /// 2, 3, 4, 5, 6 or 8; mxfp4: 4; mxfp8: 8.
    public let bits: Int
    /// Elements that share a scale (and a bias): 32, 64 or 128; 32 unless affine.
    public let groupSize: Int
    /// `affine`, `mxfp4` or `mxfp8`.
    public let mode: QuantizationMode

    /// Whether there are biases, and scales are floats.
    public var isAffine: Bool { mode == .affine }

    /// As messages show it.
    public var description: String { "\(bits)-bit g\(groupSize) \(mode.rawValue)" }

    /// - Throws: When there is no kernel for the three.
    public init(bits: Int, groupSize: Int, mode: QuantizationMode = .affine, place: String) throws {
        self.bits = bits
        self.groupSize = groupSize
        self.mode = mode
        guard mode == .affine else {
            let wanted = mode == .mxfp8 ? 8 : 4
            guard bits == wanted, groupSize == 32 else {
                throw CheckpointError(
                    .model,
                    "\(place): bits is \(bits) and group_size is \(groupSize); mode \"\(mode.rawValue)\" wants "
                        + "\(wanted) and 32")
            }
            return
        }
        guard [2, 3, 4, 5, 6, 8].contains(bits) else {
            throw CheckpointError(.model, "\(place): bits is \(bits); wanted 2, 3, 4, 5, 6 or 8")
        }
        guard [32, 64, 128].contains(groupSize) else {
            throw CheckpointError(.model, "\(place): group_size is \(groupSize); wanted 32, 64 or 128")
        }
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
                    "\(converted.place): quant_method \"\(method)\" is not supported; wanted an MLX checkpoint"
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
        let name = try found.string("mode") ?? "affine"
        guard let mode = [QuantizationMode.affine, .mxfp4, .mxfp8].first(where: { $0.rawValue == name }) else {
            throw CheckpointError(
                .model, "\(found.place): mode \"\(name)\" is not supported; wanted \"affine\", \"mxfp4\" or \"mxfp8\"")
        }
        let bits = try found.integer("bits", in: 1...32)
        let groupSize = try found.integer("group_size", in: 1...4096)
        return try Quantization(bits: bits, groupSize: groupSize, mode: mode, place: found.place)
    }
}
