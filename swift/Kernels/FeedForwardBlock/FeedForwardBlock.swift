/// Computes y = x + down(silu(gate(norm(x))) * up(norm(x))), the second half of a dense decoder layer.
///
/// Shapes: x, y [R, C] float; gate, up [F, C], down [C, F], dense or affine 2 to 8 bits in groups of 32, 64 or 128.
/// On the CPU one primitive: norm and packing by rows, gate and up by pieces of F that end in SwiGLU, down by pieces
/// of C that end in the residual. Elsewhere plain ops.
/// Assumes: nothing of layout; arrays are evaluated when the block is made.
/// Beats: see README.md.
/// Reference: FeedForwardBlock+Reference.swift.

import MLX

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A feed-forward block with its weights.
public final class FeedForwardBlock {
    let norm: KernelNorm
    let gate: KernelMatrix
    let up: KernelMatrix
    let down: KernelMatrix
    #if canImport(MLXCPU)
        private let cpu: CPUFeedForward?
    #endif

    /// Takes loaded weights.
    /// - Throws: `KernelError` for shapes or a quantization that the kernel of this device does not take.
    public init(norm: KernelNorm, gate: KernelMatrix, up: KernelMatrix, down: KernelMatrix) throws {
        self.norm = norm
        self.gate = gate
        self.up = up
        self.down = down
        #if canImport(MLXCPU)
            cpu = try onCPU { try CPUFeedForward(norm: norm.cpu, gate: gate.cpu, up: up.cpu, down: down.cpu) }
        #endif
    }

    /// - Parameter x: [R, C]
    /// - Returns: [R, C]
    public func callAsFunction(_ x: MLXArray) -> MLXArray {
        #if canImport(MLXCPU)
            if let cpu { return cpu(x) }
        #endif
        return reference(x)
    }
}
