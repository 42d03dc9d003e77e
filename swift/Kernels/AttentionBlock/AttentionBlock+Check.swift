/// The attention block against its reference, on the user's machine.

import MLX

extension AttentionBlock {
    /// Block of synthetic weights: six heads on two.
    static func synthetic(
        width: Int, headDimension: Int = 64, bits: Int, bias: Bool = false, headNorms: Bool = false,
        periods: [Float]? = nil
    ) throws -> AttentionBlock {
        var make = SyntheticWeights(seed: 3)
        let (heads, kvHeads) = (6, 2)
        return try AttentionBlock(
            Projections(
                query: make.matrix(heads * headDimension, width, bits: bits, bias: bias),
                key: make.matrix(kvHeads * headDimension, width, bits: bits, bias: bias),
                value: make.matrix(kvHeads * headDimension, width, bits: bits, bias: bias),
                output: make.matrix(width, heads * headDimension, bits: bits, bias: bias)),
            norms: Norms(
                input: make.norm(width), query: headNorms ? make.norm(headDimension) : nil,
                key: headNorms ? make.norm(headDimension) : nil),
            rotation: Rotation(
                dimensions: headDimension, traditional: false, base: periods == nil ? 10_000 : nil, periods: periods,
                scale: 1, amplitude: 1),
            heads: Heads(count: heads, kvCount: kvHeads, dimension: headDimension))
    }

    static let check = KernelCheck(
        "AttentionBlock",
        [4, 0].map { bits in
            KernelCase("\(bits == 0 ? "dense" : "\(bits)-bit g32"), 130 rows and one more of width 192") {
                try withError {
                    let block = try AttentionBlock.synthetic(width: 192, bits: bits)
                    var make = SyntheticWeights(seed: 4)
                    let x = make.values([131, 192])
                    let caches = (0..<2).map { _ in KeyValueCache(capacity: 131, dtype: .float32) }
                    var error: Float = 0
                    for range in [0..<130, 130..<131] {
                        let positions = MLXArray(range.map { Int32($0) })
                        let spans = caches.map { [Span(count: range.count, cache: $0)] }
                        let fused = block(x[range], positions: positions, spans: spans[0])
                        let plain = block.reference(x[range], positions: positions, spans: spans[1])
                        eval(caches.flatMap(\.state))
                        error = max(error, abs(fused - plain).max().item(Float.self))
                    }
                    return KernelDifference(error: error, allowed: checkTolerance)
                }
            }
        })
}
