/// A checkpoint directory: config.json, the index, and every `model*.safetensors`, opened and checked against each
/// other.
///
/// Takes a path, gives the config and one table of tensors. Reads headers only. Which files count, and that all of them
/// are merged, is as in mlx-lm `utils.py` at d78bf58 (side files such as `mtp.safetensors` are not part of it).

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Layers

/// An open checkpoint.
public final class Checkpoint {
    /// Bounds on what a directory may ask for.
    enum Limits {
        static let configBytes = 4 << 20
        static let indexBytes = 64 << 20
        static let shards = 4096
    }

    /// One tensor and the file that holds it.
    public struct Tensor {
        /// What the header says.
        public let entry: TensorEntry
        /// Where its bytes are.
        public let file: SafetensorsFile
    }

    /// config.json.
    public let config: ConfigReader
    /// By name, over all files.
    public let tensors: [String: Tensor]

    /// Opens and checks.
    /// - Throws: `CheckpointError` that names the file and, where there is one, the tensor.
    public init(path: String) throws {
        let directory = URL(fileURLWithPath: path, isDirectory: true)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw CheckpointError(.io, "\(path) is not a directory; wanted one with config.json and *.safetensors")
        }
        config = try Checkpoint.readConfig(directory)
        tensors = try Checkpoint.merge(Checkpoint.openShards(directory), index: Checkpoint.readIndex(directory))
    }

    private static func readConfig(_ directory: URL) throws -> ConfigReader {
        ConfigReader(try readObject(directory, "config.json", limitBytes: Limits.configBytes))
    }

    private static func readObject(
        _ directory: URL, _ name: String, limitBytes: Int
    ) throws -> [String: ConfigValue] {
        let file = try RegularFile(directory.appendingPathComponent(name))
        guard file.size <= limitBytes else {
            throw CheckpointError(.format, "\(name) has \(file.size) bytes; wanted \(limitBytes) at most")
        }
        do {
            guard case .object(let members) = try JSONText.parse(file.read(at: 0, count: file.size)) else {
                throw JSONText.Failure(message: "it is no object")
            }
            return members
        } catch let failure as JSONText.Failure {
            throw CheckpointError(.format, "\(name): \(failure.message)")
        }
    }

    private static func openShards(_ directory: URL) throws -> [SafetensorsFile] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        } catch {
            throw CheckpointError(.io, "cannot list \(directory.path): \(error)")
        }
        let shards = names.filter { $0.hasPrefix("model") && $0.hasSuffix(".safetensors") }.sorted()
        guard !shards.isEmpty else {
            throw CheckpointError(.io, "\(directory.path) has no model*.safetensors")
        }
        guard shards.count <= Limits.shards else {
            throw CheckpointError(
                .format, "\(directory.path) has \(shards.count) shards; wanted \(Limits.shards) at most")
        }
        return try shards.map { try SafetensorsFile(directory.appendingPathComponent($0)) }
    }

    /// Tensor name to file name, or nil without an index.
    private static func readIndex(_ directory: URL) throws -> [String: String]? {
        let name = "model.safetensors.index.json"
        guard FileManager.default.fileExists(atPath: directory.appendingPathComponent(name).path) else { return nil }
        let index = ConfigReader(try readObject(directory, name, limitBytes: Limits.indexBytes), place: name)
        guard let map = try index.object("weight_map") else { throw index.wrong("weight_map", wanted: "an object") }
        return try map.members.mapValues { file in
            guard case .string(let shard) = file else {
                throw CheckpointError(.format, "\(name): weight_map wants file names, found \(file.shown)")
            }
            return shard
        }
    }

    private static func merge(_ files: [SafetensorsFile], index: [String: String]?) throws -> [String: Tensor] {
        var tensors: [String: Tensor] = [:]
        for file in files {
            for (name, entry) in file.entries {
                if let other = tensors[name] {
                    throw CheckpointError(
                        .format, "tensor \(name) is in \(other.file.name) and in \(file.name); wanted once")
                }
                tensors[name] = Tensor(entry: entry, file: file)
            }
        }
        let found = Set(files.map(\.name))
        for (name, shard) in (index ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard found.contains(shard) else {
                throw CheckpointError(.io, "\(shard) is missing; the index places \(name) there")
            }
            guard let tensor = tensors[name] else {
                throw CheckpointError(.format, "\(shard): tensor \(name) is missing; the index places it there")
            }
            guard tensor.file.name == shard else {
                throw CheckpointError(
                    .format, "tensor \(name) is in \(tensor.file.name); the index places it in \(shard)")
            }
        }
        return tensors
    }
}
