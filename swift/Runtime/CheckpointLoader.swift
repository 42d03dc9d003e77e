/// Loads and prices checkpoints, and answers for the allocator: the `ModelLoader` of this core.
///
/// Order of a load: files and headers · config.json · the graph, which declares its tensors and has each compared with
/// the headers · surplus tensors · only then the bytes · kernels made of them · what holds of a row's bits here. A
/// checkpoint that fails leaves nothing behind.

import Engine
#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels
import Layers
import MLX
import Models

/// Checkpoints from directories.
public final class CheckpointLoader: ModelLoader {
    /// Loads through MLX's default device.
    public init() {}

    public func load(
        path: String, options: ModelOptions, progress: (Int) -> Void
    ) throws -> any StepRunner {
        try translated {
            progress(0)
            let plan = try CheckpointPlan(path: path, options: options)
            try plan.source.fill(progress)
            try withError { try plan.graph.prepare() }
            var description = plan.description
            description.exactness = try ExactnessProbe(plan.graph, plan.source).run()
            let files = plan.source.mappings
            for file in files { try file.requireWhole() }
            return ModelRunner(plan.graph, cacheType: plan.source.cacheType.mlx, description, files: files)
        }
    }

    public func estimate(
        path: String, options: ModelOptions
    ) throws -> (weightBytes: Int, kvBytesPerToken: Int) {
        let description = try describe(path: path, options: options)
        return (description.weightBytes, description.kvBytesPerToken)
    }

    /// What a checkpoint is, from its headers.
    /// - Throws: `EngineError` that names file, tensor and reason.
    public func describe(path: String, options: ModelOptions) throws -> ModelDescription {
        try translated { try CheckpointPlan(path: path, options: options).description }
    }

    public func memory() -> (activeBytes: Int, peakBytes: Int, cacheBytes: Int) {
        let now = Memory.snapshot()
        return (now.activeMemory, now.peakMemory, now.cacheMemory)
    }

    public func trimMemory() { Memory.clearCache() }

    private func translated<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as CheckpointError {
            let code: EngineError.Code =
                switch error.kind {
                case .io: .io
                case .format: .format
                case .model: .model
                }
            throw EngineError(code, error.message)
        } catch let error as EngineError {
            throw error
        } catch let error as KernelError {
            throw EngineError(.model, error.description)
        } catch {
            throw EngineError(.internal, "loading failed: \(error)")
        }
    }
}

/// A graph that is declared and checked, and not yet read.
struct CheckpointPlan {
    let source: CheckpointSource
    let graph: any ModelGraph
    let description: ModelDescription

    /// - Throws: `CheckpointError` that names what does not fit.
    init(path: String, options: ModelOptions) throws {
        let checkpoint = try Checkpoint(path: path)
        let config = try CheckpointPlan.capped(checkpoint.config, at: options.contextTokens)
        source = try CheckpointSource(checkpoint, floats: .choose(options))
        let (modelType, type) = try findGraph(config)
        graph = try type.init(config, from: source)
        try source.requireNoSurplus(graph.ignores)
        let facts = graph.facts
        description = ModelDescription(
            modelType: modelType, vocabularySize: facts.vocabularySize, contextTokens: facts.contextTokens,
            weightBytes: source.weightBytes,
            kvBytesPerToken: 2 * facts.layerCount * facts.attention.kvHeads * facts.attention.headDimension
                * source.cacheType.size,
            quantization: source.quantization, dtype: source.activationType.name)
    }

    /// The graph is built for the context that is asked for, so that limits of the checkpoint beyond it don't matter.
    private static func capped(_ config: ConfigReader, at contextTokens: Int?) throws -> ConfigReader {
        guard let contextTokens else { return config }
        guard contextTokens > 0 else {
            throw EngineError(.argument, "context_tokens is \(contextTokens); wanted 1 at least")
        }
        let key = "max_position_embeddings"
        let own = try config.integer(key, in: 1...Int.max, default: contextTokens)
        var members = config.members
        members[key] = .integer(min(own, contextTokens))
        return ConfigReader(members, place: config.place)
    }
}

extension TensorType {
    /// As people write it.
    var name: String {
        switch self {
        case .f16: "float16"
        case .bf16: "bfloat16"
        case .f32: "float32"
        default: rawValue.lowercased()
        }
    }
}
