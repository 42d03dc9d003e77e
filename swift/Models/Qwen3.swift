/// Qwen3 dense: Llama with a norm on each head's queries and keys, and a head dimension of its own.
///
/// Source: mlx-lm `models/qwen3.py` at d78bf58. Parity: tests/golden/logits, max |Δlogit| 2e-3 in float32.

import Layers
import MLX

/// `model_type` qwen3.
public final class Qwen3: ModelGraph {
    public let facts: GraphFacts
    private let decoder: DenseDecoder

    /// Declares all parameters.
    public init(_ config: ConfigReader, from source: any ParameterSource) throws {
        let dense = try DenseConfig(config, tiedDefault: false)
        let attentionBias = try config.bool("attention_bias", default: false)
        let traits = DenseDecoder.Traits(attentionBias: attentionBias, headNorms: true)
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
