/// The stack that dense decoders share: embedding, blocks, norm, head.
///
/// The graph files say how their model differs; this file says what is the same.

import Layers
import MLX

/// Embedding to logits for a dense decoder.
struct DenseDecoder {
    /// How a model line differs from the others.
    struct Traits {
        /// Biases on q, k, v and o.
        var attentionBias = false
        /// Biases on gate, up and down.
        var feedForwardBias = false
        /// Norms on each head's queries and keys.
        var headNorms = false
    }

    private let embedding: TokenMatrix
    private let blocks: [DecoderBlock]
    private let norm: RMSNorm
    /// Nil: the embedding is the head.
    private let ownHead: TokenMatrix?
    private var head: TokenMatrix { ownHead ?? embedding }

    /// Declares all parameters, the embedding first.
    init(_ config: DenseConfig, _ traits: Traits, from source: any ParameterSource) throws {
        let width = config.attention.width
        embedding = try TokenMatrix("model.embed_tokens", count: config.vocabularySize, width: width, from: source)
        blocks = try (0..<config.layerCount).map { layer in
            let path = "model.layers.\(layer)"
            let attention = try Attention(
                "\(path).self_attn", shape: config.attention, rope: config.rope, bias: traits.attentionBias,
                normEpsilon: traits.headNorms ? config.epsilon : nil, from: source)
            let feedForward = try GatedFeedForward(
                "\(path).mlp", width: width, inner: config.innerWidth, bias: traits.feedForwardBias, from: source)
            return try DecoderBlock(
                path, attention: attention, feedForward: feedForward, width: width, epsilon: config.epsilon,
                from: source)
        }
        norm = try RMSNorm("model.norm", width: width, epsilon: config.epsilon, from: source)
        ownHead =
            config.tied
            ? nil : try TokenMatrix("lm_head", count: config.vocabularySize, width: width, from: source)
    }

    /// Left over by some converters: precomputed angles, and the head of a tied model.
    func ignores(_ tensor: String) -> Bool {
        tensor.hasSuffix(".rotary_emb.inv_freq") || (ownHead == nil && tensor.hasPrefix("lm_head."))
    }

    /// Makes the kernels; parameters must be filled.
    func prepare() throws {
        try embedding.prepare()
        for block in blocks { try block.prepare() }
        try head.prepare()
    }

    /// The first block of each kind.
    var distinctBlocks: [DecoderBlock] {
        var seen: Set<[Matrix.Kind]> = []
        return blocks.filter { seen.insert($0.kinds).inserted }
    }

    /// - Returns: [R, C], after the last norm.
    func hidden(_ rows: StepRows) throws -> MLXArray {
        var x = try embedding.rows(rows.tokens)
        for (layer, block) in blocks.enumerated() { x = try block(x, rows, layer: layer) }
        return norm(x)
    }

    /// - Parameter hidden: [N, C]
    /// - Returns: [N, V]
    func logits(_ hidden: MLXArray) -> MLXArray { head.logits(hidden) }

    /// - Parameter hidden: [N, C]
    /// - Returns: [N, 2], uint32: best token and the bits of its logit.
    func best(_ hidden: MLXArray) throws -> MLXArray { try head.best(hidden) }
}
