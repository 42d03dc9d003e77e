// The table of CPU kernels: one per instruction set, chosen at run time.
//
// Every variant is compiled from the same sources (kernels/*.h) with its own vector width and target attributes. Within a
// variant the bits of an output row depend on that row and the weights alone; between variants they may differ, because
// the reduction order follows the vector width. README.md states the arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rmx::cpu {

enum class Variant { plain, neon, avx2, avx512 };

/// What activations are rounded to inside a quantized product.
enum class Arithmetic {
  /// float32.
  exact,
  /// int8 with one float32 scale a group of 32 values.
  fast,
};

/// Element types that kernels read and write.
enum class Element { f32, f16, bf16 };

/// A matrix of weights [rows, columns], row-contiguous. Quantized: `bits` > 0, codes packed as MLX packs them, one scale
/// and one bias a `group` of columns, w = scale * code + bias. Dense: `bits` = 0, `codes` holds elements of type `scale`.
struct Weight {
  const void* codes;
  const void* scales;
  const void* biases;
  Element scale;
  int bits;
  int group;
  int64_t rows;
  int64_t columns;
};

/// Activations of several rows in the order in which a variant's kernel reads them.
struct Activations {
  int64_t rows;
  /// exact, dense: float32 values. fast: int8 codes, `scales` beside them.
  const void* values;
  /// fast only: float32 scale of each 32 values, repeated for the lanes that it covers.
  const float* scales;
  /// Sum of each group's values (of the rounded values in fast); float32.
  const float* sums;
};

/// Sizes in elements of the buffers that one packed row takes.
struct PackedSize {
  int64_t values;
  int64_t scales;
  int64_t sums;
};

/// What softmax attention needs; strides in elements. Rows of one sequence, its keys at absolute positions 0..<position
/// + rows; row i sees keys up to position + i.
struct Attention {
  const float* queries;
  int64_t query_row, query_head;
  const void* keys;
  const void* values;
  int64_t key_head, key_row, value_head, value_row;
  Element cache;
  float* out;
  int64_t out_row, out_head;
  int rows, heads, kv_heads, head_dim, value_dim;
  int64_t position;
  float scale;
};

/// Functions of one variant. All take row ranges, so that the pool can share them out.
struct Kernels {
  Variant variant;
  const char* name;
  int lanes;

  /// Any element type to float32.
  void (*widen)(Element, const void* source, int64_t count, float* target);
  /// float32 to f16 or bf16, ties to even.
  void (*narrow)(Element, const float* source, int64_t count, uint16_t* target);

  PackedSize (*packed_size)(const Weight&, Arithmetic);
  /// Packs one row of `columns` float32 values.
  void (*pack_row)(const Weight&, Arithmetic, const float* row, void* values, float* scales, float* sums);
  /// y[m, n] for all rows m and weight rows n in [begin, end); `y` has `stride` floats a row.
  void (*product)(const Weight&, Arithmetic, const Activations&, int64_t begin, int64_t end, float* y, int64_t stride);
};

/// The kernels in use. The first call chooses the best variant of this machine, or what RMX_CPU_VARIANT names.
const Kernels& kernels();

/// Variants that this machine can run, best first.
std::vector<Variant> available_variants();

const char* variant_name(Variant);

/// Uses `name` from the next call on. Throws std::invalid_argument with the available names if it is not one of them.
void set_variant(const std::string& name);

/// Starts as exact.
Arithmetic arithmetic();
void set_arithmetic(Arithmetic);

}  // namespace rmx::cpu
