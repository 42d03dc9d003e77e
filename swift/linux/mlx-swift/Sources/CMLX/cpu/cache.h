// Keys and values of one layer of one sequence, in pages of one softmax block each, written in place.
//
// Owner: one sequence on the engine's thread; the rows themselves are written and read by dispatched jobs, in the
// order of MLX's stream. Pages are reference-counted, so that sequences with a common prefix share its full pages; a
// page that is shared is copied before a row is written to it.
#pragma once

#include <memory>
#include <vector>

#include "primitive.h"

namespace rmx::cpu {

/// One page: [kv_heads, kKeyBlock, head_dim] keys, then as many values with value_dim.
class CachePage {
 public:
  explicit CachePage(size_t bytes);
  ~CachePage();
  CachePage(const CachePage&) = delete;
  CachePage& operator=(const CachePage&) = delete;
  char* data() const { return data_; }

 private:
  mlx::core::allocator::Buffer buffer_;
  char* data_;
};

class Cache {
 public:
  /// Throws std::invalid_argument for sizes that no kernel takes.
  Cache(int kv_heads, int head_dim, int value_dim, Element element);

  int kv_heads() const { return kv_heads_; }
  int head_dim() const { return head_dim_; }
  int value_dim() const { return value_dim_; }
  Element element() const { return element_; }

  /// A cache with the first `rows` rows of this one, sharing its full pages.
  std::shared_ptr<Cache> fork(int64_t rows) const;

  /// Makes rows [0, rows) writable from `first` on: adds pages, copies shared ones. Called before rows are written.
  void prepare(int64_t first, int64_t rows);
  /// Gives back pages behind `rows`.
  void truncate(int64_t rows);

  /// Writes one row of one head, rounding to the element type.
  void write(int64_t row, int head, const float* key, const float* value);
  /// Rows [block * kKeyBlock, + count) of one head.
  KeyBlock block(int head, int64_t block, int count) const;

  size_t page_bytes() const;
  int64_t pages() const { return static_cast<int64_t>(pages_.size()); }

 private:
  char* key_at(int64_t row, int head) const;
  char* value_at(int64_t row, int head) const;

  int kv_heads_, head_dim_, value_dim_;
  Element element_;
  std::vector<std::shared_ptr<CachePage>> pages_;
};

}  // namespace rmx::cpu
