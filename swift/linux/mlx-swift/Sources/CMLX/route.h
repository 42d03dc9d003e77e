// The ops that our own CPU primitives may take over: one C++ function each, called by the C function of the same name.
// A function here chooses, by device, dtypes and shapes, between a primitive of cpu/ and libmlx's op; the arguments are
// those of mlx/ops.h and mlx/fast.h, and the result must be what the MLX op promises.
#pragma once

#include <mlx/mlx.h>

#include <optional>
#include <string>

namespace cmlx::route {

using mlx::core::array;
using mlx::core::Stream;
using OptionalArray = std::optional<array>;

/// How a weight is quantized: absent group size and bits mean the mode's default.
struct Quantization {
  std::optional<int> group_size;
  std::optional<int> bits;
  std::string mode;
};

array quantized_matmul(const array &x, const array &w, const array &scales, const OptionalArray &biases, bool transpose,
                       const Quantization &quantization, Stream s);
array matmul(const array &a, const array &b, Stream s);
array gather_qmm(const array &x, const array &w, const array &scales, const OptionalArray &biases,
                 const OptionalArray &lhs_indices, const OptionalArray &rhs_indices, bool transpose,
                 const Quantization &quantization, bool sorted, Stream s);
array rms_norm(const array &x, const OptionalArray &weight, float eps, Stream s);
array layer_norm(const array &x, const OptionalArray &weight, const OptionalArray &bias, float eps, Stream s);
array rope(const array &x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
           const OptionalArray &freqs, Stream s);
array rope(const array &x, int dims, bool traditional, std::optional<float> base, float scale, const array &offset,
           const OptionalArray &freqs, Stream s);
array scaled_dot_product_attention(const array &queries, const array &keys, const array &values, float scale,
                                   const std::string &mask_mode, const OptionalArray &mask, const OptionalArray &sinks,
                                   Stream s);

}  // namespace cmlx::route
