/// The part of config.json that all dense decoders share, checked and bounded.
///
/// A setting that would change the output and that we don't run is refused here by name.

import Layers

/// Sizes and switches of a dense decoder.
struct DenseConfig {
    let attention: AttentionShape
    let rope: Rope
    let layerCount: Int
    /// F.
    let innerWidth: Int
    let vocabularySize: Int
    let contextTokens: Int
    let epsilon: Float
    let tied: Bool

    /// Upper bounds; several times the largest published model, and far from overflow.
    private enum Limits {
        static let width = 1...65_536
        static let inner = 1...1_048_576
        static let layers = 1...1024
        static let heads = 1...1024
        static let headDimension = 2...1024
        static let vocabulary = 1...4_194_304
        static let context = 1...16_777_216
    }

    /// - Parameter tiedDefault: What an absent `tie_word_embeddings` means.
    init(_ config: ConfigReader, tiedDefault: Bool) throws {
        let width = try config.integer("hidden_size", in: Limits.width)
        let heads = try config.integer("num_attention_heads", in: Limits.heads)
        let kvHeads = try config.integer("num_key_value_heads", in: Limits.heads, default: heads)
        guard heads % kvHeads == 0 else {
            throw config.wrong("num_key_value_heads", wanted: "a divisor of num_attention_heads (\(heads))")
        }
        if !config.has("head_dim"), width % heads != 0 {
            throw config.wrong("num_attention_heads", wanted: "a divisor of hidden_size (\(width)), or head_dim")
        }
        let headDimension = try config.integer("head_dim", in: Limits.headDimension, default: width / heads)
        guard Limits.headDimension.contains(headDimension) else {
            throw CheckpointError(.model, "config.json: head dimension is \(headDimension); wanted 2 to 1024")
        }
        attention = AttentionShape(width: width, heads: heads, kvHeads: kvHeads, headDimension: headDimension)
        layerCount = try config.integer("num_hidden_layers", in: Limits.layers)
        innerWidth = try config.integer("intermediate_size", in: Limits.inner)
        vocabularySize = try config.integer("vocab_size", in: Limits.vocabulary)
        contextTokens = try config.integer("max_position_embeddings", in: Limits.context)
        epsilon = Float(try config.number("rms_norm_eps", in: 1e-12...0.1, default: 1e-6))
        tied = try config.bool("tie_word_embeddings", default: tiedDefault)
        rope = try Rope(config, dimensions: headDimension)
        try DenseConfig.refuseOtherActivation(config)
        try DenseConfig.refuseSlidingLayers(config)
        try refuseSmallWindow(config)
    }

    /// What the runtime needs to know.
    var facts: GraphFacts {
        GraphFacts(
            vocabularySize: vocabularySize, contextTokens: contextTokens, layerCount: layerCount,
            attention: attention)
    }

    private static func refuseOtherActivation(_ config: ConfigReader) throws {
        let activation = try config.string("hidden_act") ?? "silu"
        guard activation == "silu" else {
            throw config.wrong("hidden_act", wanted: "\"silu\" (others are not supported)")
        }
    }

    private static func refuseSlidingLayers(_ config: ConfigReader) throws {
        let layers = try config.list("layer_types") ?? []
        guard layers.allSatisfy({ $0 == .string("full_attention") }) else {
            throw config.wrong("layer_types", wanted: "\"full_attention\" everywhere (others are not supported)")
        }
    }

    /// A window matters only to rows beyond it, so a context that fits inside is the same model.
    private func refuseSmallWindow(_ config: ConfigReader) throws {
        // Layer types, all of them full here, overrule the window; Qwen3 has a switch of its own.
        guard try config.bool("use_sliding_window", default: true), config.has("sliding_window"),
            !config.has("layer_types")
        else { return }
        let window = try config.integer("sliding_window", in: Limits.context)
        guard window >= contextTokens else {
            throw CheckpointError(
                .model,
                "\(config.place): sliding_window is \(window), and attention with a window is not supported; "
                    + "wanted a context of at most \(window) tokens, found \(contextTokens)")
        }
    }
}
