// The matrix with a row for each token: embedding, and head of which only the best token is wanted.
import CMLX
import MLX

/// A weight `[N, K]` with a row for each token.
public final class CPUTable {
    private let handle: OpaquePointer

    /// Evaluates the weights and checks them; a bias is ignored.
    /// - Throws: For shapes, dtypes, bits or groups that the kernels don't take.
    public init(_ matrix: CPUMatrix) throws {
        guard let made = withWeights([matrix], [nil], { matrices, _ in cmlx_cpu_table_new(matrices) }) else {
            throw lastError()
        }
        handle = made
    }

    deinit { cmlx_cpu_table_free(handle) }

    /// - Parameter indices: [R], int32.
    /// - Returns: [R, K], float32: scale * code + bias, rounded once; NaNs for an index that is no row.
    public func rows(_ indices: MLXArray, stream: StreamOrDevice = .cpu) -> MLXArray {
        MLXArray(cmlx_cpu_table_rows(handle, indices.handle, stream.ctx))
    }

    /// The row with the largest product, the first of equals. Products are those of `quantizedMM`, bit for bit.
    /// - Parameter x: [R, K]
    /// - Returns: [R, 2], uint32: index, and the bits of the product as a float32; a NaN if there is one among the
    ///   products.
    public func best(_ x: MLXArray, stream: StreamOrDevice = .cpu) -> MLXArray {
        MLXArray(cmlx_cpu_table_best(handle, x.handle, stream.ctx))
    }
}
