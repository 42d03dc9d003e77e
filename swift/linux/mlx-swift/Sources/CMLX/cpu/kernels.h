// The table of CPU kernels: one per instruction set, chosen at run time.
//
// Every variant is compiled from the same sources (kernels/*.h) with its own vector width and target attributes.
// Within a variant the bits of an output row depend on that row and the weights alone; between variants they may
// differ, because the reduction order follows the vector width. README.md states the arithmetic.
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

/// Element types that kernels read and write. e8m0, an exponent of two in a byte, is a type of scales only.
enum class Element { f32, f16, bf16, e8m0 };

inline int element_size(Element element) { return element == Element::f32 ? 4 : element == Element::e8m0 ? 1 : 2; }

/// What a code of a quantized weight stands for.
enum class Format {
  /// scale * code + bias, 2 to 8 bits.
  affine,
  /// scale * a float of 4 bits (E2M1); groups of 32, scales e8m0, no biases.
  mxfp4,
  /// scale * a float of 8 bits (E4M3); groups of 32, scales e8m0, no biases.
  mxfp8,
};

/// A matrix of weights [rows, columns], row-contiguous. Quantized: `bits` > 0, codes packed as MLX packs them, one
/// scale (and one bias if affine, else null) a `group` of columns. Dense: `bits` = 0, `codes` holds elements of type
/// `scale`.
struct Weight {
  const void* codes;
  const void* scales;
  const void* biases;
  Element scale;
  int bits;
  int group;
  int64_t rows;
  int64_t columns;
  Format format = Format::affine;
};

/// The arithmetic that a product with this weight has: there is one only for dense ones and for mxfp8.
inline Arithmetic arithmetic_of(const Weight& weight, Arithmetic asked) {
  return weight.bits == 0 || weight.format == Format::mxfp8 ? Arithmetic::exact : asked;
}

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

/// Keys of one softmax block; borders lie at absolute positions that are multiples of this.
constexpr int kKeyBlock = 128;

/// Largest head, in elements, that the attention kernels take.
constexpr int kHeadDimMax = 1024;

/// Up to kKeyBlock keys and values of one head; strides in elements, the last axis adjacent.
struct KeyBlock {
  const void* keys;
  const void* values;
  int64_t key_stride;
  int64_t value_stride;
  Element element;
  int count;
};

/// Queries that share a key head, and their running softmax state (largest score, sum of weights, weighted values).
struct AttentionTile {
  int rows;
  int head_dim;
  int value_dim;
  /// [rows, padded(head_dim)], already times the scale, zeros behind head_dim.
  const float* queries;
  float* largest;
  float* total;
  /// [rows, padded(value_dim)].
  float* values;
  /// kKeyBlock floats a row.
  float* weights;
  /// For a cache that is not float32: lanes * padded(head_dim) floats.
  float* widened;
};

/// An additive mask (float32) of a tile: row r, key i of the block at mask[r * stride + i]; null: none.
struct MaskBlock {
  const float* values;
  int64_t stride;
};

/// How RoPE rotates: pairs (i, i + dims / 2), or (2i, 2i + 1) if traditional.
struct Rotation {
  int dims;
  bool traditional;
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

  /// out = row / sqrt(mean(row^2) + epsilon) * weight; `weight` may be null.
  void (*rms_norm)(const float* row, int64_t width, const float* weight, float epsilon, float* out);
  /// out = silu(gate) * up, silu(x) = x / (1 + e^-x).
  void (*swiglu)(const float* gate, const float* up, int64_t count, float* out);
  /// Cosines and sines of position * inverse frequency, `half` of each.
  void (*angles)(float position, const float* inverse_frequencies, int half, float* cosines, float* sines);
  /// Rotates the first `dims` values of a row, copies the others.
  void (*rotate)(Rotation, const float* row, int64_t width, const float* cosines, const float* sines, float* out);

  /// head_dim or value_dim rounded up to whole vectors.
  int64_t (*padded)(int64_t);
  /// Adds one block to the state; row r sees the first visible[r] keys (0: none).
  void (*attend)(const AttentionTile&, const KeyBlock&, const int* visible, const MaskBlock&);
  /// Adds the state of a later block to `state`: both [1], [1], [padded(value_dim)].
  void (*merge)(
      int value_dim, float* largest, float* total, float* values, float other_largest, float other_total,
      const float* other_values);
  /// values / total, with `sink` as one more score without a value if not null.
  void (*finish)(int value_dim, float largest, float total, const float* values, const float* sink, float* out);

  /// The largest of `count` values; NaN if there is one. The bits of these four are the same in all variants.
  float (*maximum_of)(const float* x, int64_t count);
  /// The first index from `begin` on with x > bound, else `count`.
  int64_t (*find_above)(const float* x, int64_t begin, int64_t count, float bound);
  /// Indices in order with x >= bound; `out` has room for `count`. Returns how many.
  int64_t (*collect)(const float* x, int64_t count, float bound, int32_t* out);
  /// Sum of e^(x / temperature - best) in float64; no quotient is larger than `best`.
  double (*mass)(const float* x, int64_t count, double temperature, double best);
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
