// MLXFast and MLXRandom against Python's MLX. Fused ops may run on our own primitives, so their values may
// differ a little.
import MLX
import Testing

@Suite struct FastTests {
    @Test func norms() throws {
        try withGolden { golden in
            let (x, half, scale, shift) = (
                try golden["x"], try golden["half"], try golden["scale"], try golden["shift"]
            )
            try golden.expect("rms_norm", MLXFast.rmsNorm(x, weight: scale, eps: 1e-5), within: 1e-6)
            let halved = MLXFast.rmsNorm(half, weight: scale.asType(.bfloat16), eps: 1e-5)
            try golden.expect("rms_norm.half", halved, within: 2e-2)
            try golden.expect("rms_norm.weightless", MLXFast.rmsNorm(x, weight: .mlxNone, eps: 1e-5), within: 1e-6)
            try golden.expect("layer_norm", MLXFast.layerNorm(x, weight: scale, bias: shift, eps: 1e-5), within: 1e-6)
            try golden.expect("layer_norm.plain", MLXFast.layerNorm(x, eps: 1e-5), within: 1e-6)
        }
    }

    @Test func rotaryPositions() throws {
        try withGolden { golden in
            let heads = try golden["heads"]
            let plain = MLXFast.RoPE(heads, dimensions: 32, traditional: false, base: 10000, scale: 1, offset: 5)
            try golden.expect("rope", plain, within: 1e-5)
            let traditional = MLXFast.RoPE(
                heads, dimensions: 16, traditional: true, base: 500_000, scale: 0.5, offset: 0)
            try golden.expect("rope.traditional", traditional, within: 1e-5)
            let given = MLXFast.RoPE(
                heads, dimensions: 32, traditional: false, base: nil, scale: 1, offset: 2,
                freqs: try golden["freqs"])
            try golden.expect("rope.freqs", given, within: 1e-5)
            let each = MLXFast.RoPE(
                heads, dimensions: 32, traditional: false, base: 10000, scale: 1, offset: try golden["offsets"])
            try golden.expect("rope.offsets", each, within: 1e-5)
        }
    }

    @Test func attention() throws {
        try withGolden { golden in
            let (q, k, v) = (try golden["queries"], try golden["keys"], try golden["values"])
            func attend(
                _ mask: MLXFast.ScaledDotProductAttentionMaskMode, sinks: MLXArray? = nil
            ) -> MLXArray {
                MLXFast.scaledDotProductAttention(
                    queries: q, keys: k, values: v, scale: 0.25, mask: mask, sinks: sinks)
            }
            try golden.expect("attention", attend(.none), within: 1e-5)
            try golden.expect("attention.causal", attend(.causal), within: 1e-5)
            try golden.expect("attention.keep", attend(.array(golden["keep"])), within: 1e-5)
            try golden.expect("attention.bias", attend(.array(golden["bias"])), within: 1e-5)
            try golden.expect("attention.sinks", attend(.causal, sinks: golden["sinks"]), within: 1e-5)
            let plain = MLXFast.scaledDotProductAttention(queries: q, keys: k, values: v, scale: 0.25, mask: nil)
            try golden.expect("attention", plain, within: 1e-5)
        }
    }

    @Test func randomNumbersFollowTheKey() throws {
        try withGolden { golden in
            let (key, logits) = (try golden["key"], try golden["logits"])
            try golden.expect("random.key", MLXRandom.key(1_234_567_890_123))
            try golden.expect("random.split", stacked(MLXRandom.split(key: key, into: 3)))
            try golden.expect("random.uniform", MLXRandom.uniform(low: -1, high: 3, [2, 5], key: key))
            try golden.expect("random.uniform", MLXRandom.uniform(-1.0 ..< 3.0, [2, 5], key: key))
            try golden.expect("random.normal", MLXRandom.normal([2, 5], loc: 1, scale: 0.5, key: key))
            try golden.expect("random.normal.half", MLXRandom.normal([6], dtype: .bfloat16, key: key))
            try golden.expect("random.randint", MLXRandom.randInt(Int32(-5) ..< 50, [9], key: key))
            try golden.expect("random.bernoulli", MLXRandom.bernoulli(0.3, [12], key: key))
            try golden.expect("random.gumbel", MLXRandom.gumbel([5], dtype: .float32, key: key))
            try golden.expect("random.categorical", MLXRandom.categorical(logits, key: key))
            try golden.expect("random.categorical.count", MLXRandom.categorical(logits, count: 4, key: key))
            try golden.expect("random.categorical.shape", MLXRandom.categorical(logits, shape: [2, 3], key: key))
        }
    }

    @Test func aSeededStateRepeatsItself() throws {
        try withError {
            let draws = (0 ..< 2).map { _ in
                withRandomState(MLXRandom.RandomState(seed: 5)) {
                    [MLXRandom.uniform(0 ..< 1, [4]), MLXRandom.uniform(0 ..< 1, [4])].map { $0.asArray(Float.self) }
                }
            }
            #expect(draws[0] == draws[1])
            #expect(draws[0][0] != draws[0][1])
            let state = MLXRandom.RandomState(seed: 5)
            let first = state.next().asArray(UInt32.self)
            state.seed(5)
            #expect(state.next().asArray(UInt32.self) == first)
        }
    }
}
