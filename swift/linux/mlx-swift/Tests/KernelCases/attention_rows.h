// Attention by the table of kernels, one query row and head at a time, and in float64 with its bound.
#pragma once

#include "elements.h"
#include "report.h"

namespace rmx::cpu::cases {

/// Keys and values of one head: stored rows, `stride` elements apart.
struct HeadKeys {
  const Stored* keys;
  const Stored* values;
  /// Element of row 0; strides in elements.
  int64_t key_first, value_first, key_stride, value_stride;
  int head_dim, value_dim;

  KeyBlock block(int64_t first, int count) const;
  float key(int64_t row, int d) const { return keys->values()[key_first + row * key_stride + d]; }
  float value(int64_t row, int d) const { return values->values()[value_first + row * value_stride + d]; }
};

/// State of `rows` queries that share keys.
class Queries {
 public:
  /// `queries` [rows, head_dim], not yet times `scale`.
  Queries(const Kernels& kernel, const float* queries, int rows, int head_dim, int value_dim, float scale);
  /// Adds block `block`; row r sees the first `visible[r]` keys of the whole cache. `mask` [rows, keys] is added to
  /// scores; null: none.
  void attend(const HeadKeys& head, int block, const std::vector<int>& visible, const std::vector<float>* mask);
  /// Adds the state of a later block.
  void merge(const Queries& later);
  /// [rows, value_dim]; `sink`: one more score.
  std::vector<float> finish(const float* sink) const;

 private:
  const Kernels& kernel_;
  int rows_, head_dim_, value_dim_;
  Exact queries_, largest_, total_, values_, weights_, widened_;
};

/// All blocks in turn.
std::vector<float> attend_all(
    const Kernels& kernel, const HeadKeys& head, const float* queries, const std::vector<int>& visible, float scale,
    const float* sink = nullptr, const std::vector<float>* mask = nullptr);

/// Of one query row: the result in float64 and what cpu/README.md allows, for each element.
struct AttentionReference {
  std::vector<double> exact, allowed;
};
AttentionReference attention_reference(
    const Kernels& kernel, const HeadKeys& head, const float* query, int visible, float scale, const float* sink,
    const float* mask);

}  // namespace rmx::cpu::cases
