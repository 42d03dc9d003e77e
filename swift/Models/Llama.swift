/// Llama, and Mistral, which is the same graph.
///
/// Source: mlx-lm `models/llama.py` at d78bf58. Parity: tests/golden/logits, max |Δlogit| 2e-3 in float32.

import Layers
import MLX

/// `model_type` llama and mistral.
public final class Llama: ModelGraph {
    public let facts: GraphFacts
    private let decoder: DenseDecoder

    /// Declares all parameters.
    public init(_ config: ConfigReader, from source: any ParameterSource) throws {
        let dense = try DenseConfig(config, tiedDefault: true)
        let attentionBias = try config.bool("attention_bias", default: false)
        let feedForwardBias = try config.bool("mlp_bias", default: false)
        let traits = DenseDecoder.Traits(attentionBias: attentionBias, feedForwardBias: feedForwardBias)
        decoder = try DenseDecoder(dense, traits, from: source)
        facts = dense.facts
    }

    public func ignores(_ tensor: String) -> Bool { decoder.ignores(tensor) }

    public func prepare() throws { try decoder.prepare() }

    public var distinctBlocks: [DecoderBlock] { decoder.distinctBlocks }

    public func hidden(_ rows: StepRows) throws -> MLXArray { try decoder.hidden(rows) }

    public func logits(_ hidden: MLXArray) -> MLXArray { decoder.logits(hidden) }

    public func best(_ hidden: MLXArray) throws -> MLXArray { try decoder.best(hidden) }
}
