// Softmax attention of some sequences, shared out over the pool.
#pragma once

#include <vector>

#include "cache.h"
#include "primitive.h"

namespace rmx::cpu {

/// Rows of heads in memory; strides in elements, a head's elements adjacent.
struct HeadRows {
  const char* data = nullptr;
  Element element = Element::f32;
  int64_t head = 0, row = 0;
  const void* at(int64_t h, int64_t r) const { return data + (h * head + r * row) * element_size(element); }
};

/// An additive float32 mask; strides in elements, zero where it is broadcast. No data: no mask.
struct MaskRows {
  const float* data = nullptr;
  int64_t head = 0, row = 0, key = 0;
};

/// The queries of one sequence and what they attend to. Keys lie at positions 0 to `keys` - 1: in `cache` if there is
/// one, else in `key_rows` and `value_rows`.
struct AttentionJob {
  HeadRows queries;
  const Cache* cache = nullptr;
  HeadRows key_rows, value_rows;
  MaskRows mask;
  /// [heads]; null: none.
  const float* sinks = nullptr;
  void* out = nullptr;
  Element out_element = Element::f32;
  int64_t out_head = 0, out_row = 0;
  int heads = 0, kv_heads = 0, rows = 0, keys = 0, head_dim = 0, value_dim = 0;
  float scale = 1;
  /// The last query is aligned with the last key.
  bool causal = false;

  int group() const { return heads / kv_heads; }
  int rows_per_tile() const;
  int tiles_per_head() const { return (rows + rows_per_tile() - 1) / rows_per_tile(); }
  int tiles() const { return kv_heads * tiles_per_head(); }
  /// Bytes of keys and values that its tiles read: each goes through what its last row sees.
  int64_t bytes() const;
  int blocks() const { return (keys + kKeyBlock - 1) / kKeyBlock; }
  /// Keys that query `row` sees.
  int limit(int row) const { return causal ? std::max(0, keys - rows + row + 1) : keys; }
  KeyBlock block(int kv_head, int block, int count) const;
};

/// Runs all jobs and returns when they are done. Bits do not depend on which jobs share a call.
void attend(const std::vector<AttentionJob>& jobs);

}  // namespace rmx::cpu
