// What the MLX primitives of this folder share: a base class without a GPU side, views of an input's rows, scratch
// memory.
#pragma once

#include <mlx/backend/cpu/encoder.h>
#include <mlx/mlx.h>
#include <mlx/primitives.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.h"
#include "threads.h"

namespace rmx::cpu {

using mlx::core::array;
using mlx::core::Dtype;
using mlx::core::Shape;
using mlx::core::Stream;

/// The kernels' name of a floating dtype; none for all others.
std::optional<Element> element_of(Dtype dtype);

/// MLX's name of a way to quantize; none for those that no kernel takes.
std::optional<Format> format_of(const std::string& mode);

/// Whether the kernels take codes of `bits` in groups of `group`.
bool takes(Format format, int group, int bits);

/// Rows [first, first + count) of a weight.
Weight rows_of(const Weight& weight, int64_t first, int64_t count);

/// True if primitives of ours may stand for an op on these inputs: on a CPU stream and outside of function transforms,
/// whose rules (gradients, vmap) only MLX's own ops have.
bool may_take_over(const Stream& stream, const std::vector<array>& inputs);

/// base^(-i / half) for i below `half`, with the exponent rounded to float32 as MLX's graph rounds it.
std::vector<float> inverse_frequencies(int half, float base);

/// A one-output primitive that exists on the CPU only.
class Primitive : public mlx::core::UnaryPrimitive {
 public:
  using mlx::core::UnaryPrimitive::UnaryPrimitive;
  void eval_gpu(const std::vector<array>&, array&) override {
    throw std::runtime_error(std::string("Cannot run ") + name() + " on a GPU: it is a CPU primitive");
  }
};

/// The rows of an evaluated array: its last axis, in row-major order of the others, whatever its strides are.
class Rows {
 public:
  explicit Rows(const array& source);
  int64_t count() const { return count_; }
  int64_t width() const { return width_; }
  /// Row `index` as float32: in place if it is that already, else widened into `buffer` (`width()` floats).
  const float* read(int64_t index, float* buffer) const;

 private:
  const char* data_;
  Element element_;
  int64_t count_, width_, column_stride_;
  bool flat_;
  Shape shape_;
  mlx::core::Strides strides_;
};

/// Memory for one job or one piece of a job, taken from a block that the thread keeps; scopes nest. Pieces start at
/// multiples of 64 bytes.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(bytes(count * static_cast<int64_t>(sizeof(T))));
  }

 private:
  void* bytes(int64_t size);
  size_t mark_;
  std::vector<void*> large_;
};

/// Packs rows for `weight` on the pool: all, or the `count` that `which` names. What is returned lives in `scratch`.
Activations pack(
    const Weight& weight, Arithmetic arithmetic, const Rows& rows, Scratch& scratch, const int64_t* which = nullptr,
    int64_t count = 0);

/// y[rows, weight.rows] = rows x weight, on the pool.
void multiply(const Weight& weight, Arithmetic arithmetic, const Activations& rows, float* y, int64_t stride);

/// Rounds `count` float32 values to `element` (f16 or bf16; ties to even) on the pool.
void narrow(const float* source, Element element, void* target, int64_t count);

}  // namespace rmx::cpu
