// Our CPU primitives as MLX ops. Each function takes what the MLX op of the same name takes and gives the same array,
// within the rounding that README.md states; none where a case is left to MLX (another device, dtype, mode, layout or a
// function transform), so that MLX's own errors stay the errors.
#pragma once

#include <mlx/mlx.h>

#include <optional>
#include <string>

namespace rmx::cpu {

using OptionalArray = std::optional<mlx::core::array>;

/// x [..., K] times the transpose of a quantized w [N, K], affine, 2 to 8 bits, groups of 32, 64 or 128.
OptionalArray quantized_matmul(
    const mlx::core::array& x, const mlx::core::array& w, const mlx::core::array& scales, const OptionalArray& biases,
    bool transpose, int group_size, int bits, const std::string& mode, mlx::core::Stream stream);

}  // namespace rmx::cpu
