/// The feed-forward block in plain ops: what the kernel is compared with, and what runs where there is none.

import MLX

extension FeedForwardBlock {
    /// - Parameter x: [R, C]
    /// - Returns: [R, C]
    func reference(_ x: MLXArray) -> MLXArray {
        let normed = norm(x)
        let gated = gate.product(normed)
        return x + down.product(gated * sigmoid(gated) * up.product(normed))
    }
}
