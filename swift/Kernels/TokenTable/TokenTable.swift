/// The matrix with a row for each token: rows by index (the embedding), and the best token of a head.
///
/// Shapes: table [N, C], dense or quantized (affine 2 to 8 bits, mxfp4, mxfp8); indices [R] int32; x [R, C] float.
/// On the CPU two primitives: rows are dequantized in float32; the best token is found in pieces of 256 products that
/// never leave a core's cache. Elsewhere plain ops.
/// Assumes: indices are below N.
/// Beats: see README.md.
/// Reference: TokenTable+Reference.swift.

import MLX

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// A table of token rows.
public final class TokenTable {
    let matrix: KernelMatrix
    #if canImport(MLXCPU)
        private let cpu: CPUTable?
    #endif

    /// Takes loaded weights without a bias.
    /// - Throws: `KernelError` for shapes or a quantization that the kernel of this device does not take.
    public init(_ matrix: KernelMatrix) throws {
        self.matrix = matrix
        #if canImport(MLXCPU)
            cpu = try onCPU { try CPUTable(matrix.cpu) }
        #endif
    }

    /// - Parameter indices: [R], int32, each below N.
    /// - Returns: [R, C], in float32 on the CPU, else in the dtype that the table is kept in.
    public func rows(_ indices: MLXArray) -> MLXArray {
        #if canImport(MLXCPU)
            if let cpu { return cpu.rows(indices) }
        #endif
        return referenceRows(indices)
    }

    /// The best token of each row as a head has it: the index of the largest logit, the lowest on ties. The logits are
    /// those of the plain product, bit for bit, and are not kept.
    /// - Parameter x: [R, C]
    /// - Returns: [R, 2], uint32: index, and the bits of its logit as a float32, not finite if the logits are unsound.
    public func best(_ x: MLXArray) -> MLXArray {
        #if canImport(MLXCPU)
            if let cpu { return cpu.best(x) }
        #endif
        return referenceBest(x)
    }
}
