// Our CPU primitives as MLX ops. Each function takes what the MLX op of the same name takes and gives the same array,
// within the rounding that README.md states; none where a case is left to MLX (another device, dtype, mode, layout or a
// function transform), so that MLX's own errors stay the errors.
#pragma once

#include <mlx/mlx.h>

#include <optional>
#include <string>

namespace rmx::cpu {

using OptionalArray = std::optional<mlx::core::array>;

/// x [..., K] times the transpose of a quantized w [N, K]: affine (2 to 8 bits, groups of 32, 64 or 128), mxfp4, mxfp8.
OptionalArray quantized_matmul(
    const mlx::core::array& x, const mlx::core::array& w, const mlx::core::array& scales, const OptionalArray& biases,
    bool transpose, std::optional<int> group_size, std::optional<int> bits, const std::string& mode,
    mlx::core::Stream stream);

/// x [..., M, K] times the transposes of experts of w [E, N, K], as `rhs_indices` says: [indices..., M, N]. An index
/// beyond the experts or the rows of x gives NaNs.
OptionalArray gather_qmm(
    const mlx::core::array& x, const mlx::core::array& w, const mlx::core::array& scales, const OptionalArray& biases,
    const OptionalArray& lhs_indices, const OptionalArray& rhs_indices, bool transpose, std::optional<int> group_size,
    std::optional<int> bits, const std::string& mode, mlx::core::Stream stream);

/// a [..., M, K] x b [K, N] with float elements; best where b is a transposed view of weights [N, K].
OptionalArray matmul(const mlx::core::array& a, const mlx::core::array& b, mlx::core::Stream stream);

/// x [..., D] / sqrt(mean(x^2) + eps) * weight [D].
OptionalArray rms_norm(const mlx::core::array& x, const OptionalArray& weight, float eps, mlx::core::Stream stream);

/// Rotary embedding of x [B, ..., T, D] from `offset` on: a number, or an int32 array of one or B numbers in
/// `offset_array`.
OptionalArray rope(
    const mlx::core::array& x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
    const OptionalArray& offset_array, const OptionalArray& freqs, mlx::core::Stream stream);

/// q [B, H, T, D], k [B, K, S, D], v [B, K, S, V] to [B, H, T, V]. `mask_mode`: "", "causal" or "array".
OptionalArray scaled_dot_product_attention(
    const mlx::core::array& q, const mlx::core::array& k, const mlx::core::array& v, float scale,
    const std::string& mask_mode, const OptionalArray& mask, const OptionalArray& sinks, mlx::core::Stream stream);

/// silu(gate) * up, of one shape and dtype.
OptionalArray swiglu(const mlx::core::array& gate, const mlx::core::array& up, mlx::core::Stream stream);

}  // namespace rmx::cpu
