/// What every graph offers, and the list of graphs by `model_type`.
///
/// A graph is built from config.json and a source of parameters; building declares tensors and reads none. It runs over
/// all rows of a step and never evaluates.

import Layers
import MLX

/// Numbers of a graph that the runtime needs.
public struct GraphFacts: Sendable, Equatable {
    /// V: rows of the logits.
    public let vocabularySize: Int
    /// `max_position_embeddings`.
    public let contextTokens: Int
    /// Attention caches a sequence needs.
    public let layerCount: Int
    /// C, H, K and D.
    public let attention: AttentionShape
}

/// A network over the rows of a step.
public protocol ModelGraph: AnyObject {
    /// Its numbers.
    var facts: GraphFacts { get }
    /// Declares all parameters, the embedding first.
    /// - Throws: `CheckpointError` when config.json or a tensor does not fit.
    init(_ config: ConfigReader, from source: any ParameterSource) throws
    /// Whether a tensor of the files is known to be of no use.
    func ignores(_ tensor: String) -> Bool
    /// Makes this device's kernels of the loaded weights. Parameters must be filled.
    /// - Throws: `KernelError` when there is none for them.
    func prepare() throws
    /// A block of each kind of layer, for the check of what holds of a row's bits.
    var distinctBlocks: [DecoderBlock] { get }
    /// Runs all layers.
    /// - Returns: [R, C], after the last norm.
    /// - Throws: What `prepare` throws, if it was not called.
    func hidden(_ rows: StepRows) throws -> MLXArray
    /// The head.
    /// - Parameter hidden: [N, C]
    /// - Returns: [N, V]
    func logits(_ hidden: MLXArray) -> MLXArray
    /// The head where only the best token is wanted: that of `logits`, bit for bit, without keeping them.
    /// - Parameter hidden: [N, C]
    /// - Returns: [N, 2], uint32: the lowest token with the largest logit, and the bits of that logit as a float32,
    ///   which is not finite if the logits are unsound.
    /// - Throws: What `prepare` throws, if it was not called.
    func best(_ hidden: MLXArray) throws -> MLXArray
}

/// Graphs by `model_type` of config.json.
public let modelGraphs: [String: any ModelGraph.Type] = [
    "llama": Llama.self,
    "mistral": Llama.self,
    "qwen3": Qwen3.self,
]

/// The graph of a checkpoint.
/// - Throws: When `model_type` is missing or has no graph; the message lists those that have.
public func findGraph(_ config: ConfigReader) throws -> (modelType: String, graph: any ModelGraph.Type) {
    let known = modelGraphs.keys.sorted().joined(separator: ", ")
    guard let modelType = try config.string("model_type") else {
        throw CheckpointError(.model, "\(config.place): model_type is missing; known are \(known)")
    }
    guard let graph = modelGraphs[modelType] else {
        throw CheckpointError(.model, "\(config.place): model_type \"\(modelType)\" has no graph; known are \(known)")
    }
    return (modelType, graph)
}
