// Whole blocks of a decoder as one MLX primitive each: what stands between two products stays in the cache of a core,
// and a token costs two graph nodes a layer.
//
// A block holds its weights (checked when it is made) and is applied to [R, C] rows. The arithmetic is that of the
// single primitives; activations between the steps are float32.
#pragma once

#include <memory>
#include <vector>

#include "cache.h"
#include "primitive.h"

namespace rmx::cpu {

/// A weight matrix with the arrays that it points into, evaluated and row-contiguous.
class Matrix {
 public:
  /// Codes [N, K * bits / 32] with scales and, if `mode` is affine, biases [N, K / group]. Throws
  /// std::invalid_argument, with `name`, for what the kernels do not take.
  static Matrix quantized(
      const std::string& name, const array& codes, const array& scales, const std::optional<array>& biases, int group,
      int bits, const std::string& mode);
  /// Floats [N, K].
  static Matrix dense(const std::string& name, const array& values);

  const Weight& weight() const { return weight_; }

 private:
  std::vector<array> held_;
  Weight weight_{};
};

/// A float vector, widened once.
using Vector = std::vector<float>;
/// Evaluates and widens [N]. Throws std::invalid_argument, with `name`, for another shape or dtype.
Vector read_vector(const std::string& name, const array& values, int64_t count);

struct Norm {
  Vector weight;
  float epsilon = 0;
};

/// x + down(silu(gate(norm(x))) * up(norm(x))).
struct FeedForward {
  Norm norm;
  Matrix gate, up, down;
  /// Empty: no bias.
  Vector gate_bias, up_bias, down_bias;
  /// Throws std::invalid_argument if the sizes do not fit together.
  void check() const;
};

array feed_forward(std::shared_ptr<const FeedForward> block, const array& x, Stream stream);

/// Angles are position * scale * inverse[i]; the rotated elements are multiplied by `amplitude` before.
struct Rope {
  Rotation rotation{};
  Vector inverse;
  float scale = 1;
  float amplitude = 1;
};

/// x + output(attention(rope(query(norm(x))), cache with rope(key(norm(x))) and value(norm(x)) added)).
struct AttentionBlock {
  Norm norm;
  Matrix query, key, value, output;
  /// Empty: no bias.
  Vector query_bias, key_bias, value_bias, output_bias;
  /// Over each head's elements; empty weight: none.
  Norm query_norm, key_norm;
  Rope rope;
  int heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1;
  /// Throws std::invalid_argument if the sizes do not fit together.
  void check() const;
};

/// Rows [begin, begin + count) of x, at absolute positions `position` and on, of the sequence with this cache.
struct Span {
  int begin = 0, count = 0;
  int64_t position = 0;
  std::shared_ptr<Cache> cache;
};

/// Spans cover the rows of x in order without gaps. Writes the caches when it is evaluated, so the result must be
/// evaluated exactly once and before the next step's.
array attention_block(
    std::shared_ptr<const AttentionBlock> block, const array& x, std::vector<Span> spans, Stream stream);

}  // namespace rmx::cpu
