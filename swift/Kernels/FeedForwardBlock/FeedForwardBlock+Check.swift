/// The feed-forward block against its reference, on the user's machine.

import MLX

extension FeedForwardBlock {
    /// Block of synthetic weights.
    static func synthetic(width: Int, inner: Int, bits: Int, bias: Bool = false) throws -> FeedForwardBlock {
        var make = SyntheticWeights(seed: 1)
        return try FeedForwardBlock(
            norm: make.norm(width), gate: make.matrix(inner, width, bits: bits, bias: bias),
            up: make.matrix(inner, width, bits: bits, bias: bias),
            down: make.matrix(width, inner, bits: bits, bias: bias))
    }

    static let check = KernelCheck(
        "FeedForwardBlock",
        [4, 8, 0].map { bits in
            KernelCase("\(bits == 0 ? "dense" : "\(bits)-bit g32"), 3 rows of width 192, inner 512") {
                try withError {
                    let block = try FeedForwardBlock.synthetic(width: 192, inner: 512, bits: bits)
                    var make = SyntheticWeights(seed: 2)
                    let x = make.values([3, 192])
                    return KernelDifference(
                        error: abs(block(x) - block.reference(x)).max().item(Float.self), allowed: checkTolerance)
                }
            }
        })
}

/// Float32 kernels that sum in another order, on values of size 1; int8 activations round more.
var checkTolerance: Float { Processor.roundsActivations ? 0.2 : 1e-4 }
