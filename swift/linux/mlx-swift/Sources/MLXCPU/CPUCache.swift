// Keys and values in pages, written in place by `CPUAttention`.
import CMLX
import MLX

/// Keys and values of one layer of one sequence. Not an array: a step that uses it writes it when it is evaluated.
public final class CPUCache {
    let handle: OpaquePointer

    private init(_ handle: OpaquePointer?) throws {
        guard let handle else { throw lastError() }
        self.handle = handle
    }

    /// An empty cache; `dtype` is float32, float16 or bfloat16.
    /// - Throws: For other dtypes, and for heads that no kernel takes.
    public convenience init(kvHeads: Int, headDimension: Int, dtype: DType) throws {
        try self.init(cmlx_cpu_cache_new(Int32(clamping: kvHeads), Int32(clamping: headDimension), dtype.code))
    }

    deinit { cmlx_cpu_cache_free(handle) }

    /// A cache that begins with the first `rows` rows and shares their pages until either writes to one. All steps that
    /// use this cache must have been evaluated.
    public func fork(rows: Int) throws -> CPUCache { try CPUCache(cmlx_cpu_cache_fork(handle, Int64(rows))) }

    /// Forgets rows from `rows` on. All steps that use this cache must have been evaluated.
    public func truncate(rows: Int) throws {
        if !cmlx_cpu_cache_truncate(handle, Int64(rows)) { throw lastError() }
    }

    /// Bytes of its pages, shared ones included.
    public var byteCount: Int { cmlx_cpu_cache_nbytes(handle) }
}
