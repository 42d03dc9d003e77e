// Operands of products, and products by the table of kernels: the reference that ops and blocks are held to.
#pragma once

#include "elements.h"
#include "report.h"

namespace rmx::cpu::cases {

/// A random quantized or dense weight, at an address that is a multiple of its elements only.
class Operand {
 public:
  /// `bits` 0: dense. The scales of mxfp4 and mxfp8 are e8m0.
  Operand(
      Random& random, int64_t outputs, int64_t columns, int bits, int group, Element scale,
      Format format = Format::affine);

  const Weight& weight() const { return weight_; }
  const Exact& codes() const { return codes_; }
  const Stored& scales() const { return scales_; }
  const Stored& biases() const { return biases_; }
  int64_t groups() const { return weight_.bits ? weight_.columns / weight_.group : 0; }

  /// The weight that element (n, k) stands for.
  double value(int64_t n, int64_t k) const;
  /// The largest magnitude of a term's factor: |s| (2^bits - 1) + |b|; mxfp4: 18 |s|; mxfp8: 480 |s|; dense: |w|.
  double reach(int64_t n, int64_t k) const;

 private:
  Weight weight_{};
  Exact codes_;
  Stored scales_, biases_;
};

/// y [end - begin, outputs] of rows [begin, end) of x, shared out over the pool in pieces of `granule` weight rows. An
/// element that no piece wrote is NaN.
std::vector<float> multiply(
    const Kernels& kernel, const Weight& weight, Arithmetic mode, const float* x, int64_t begin, int64_t end,
    int64_t granule);

/// What cpu/README.md allows y[m, n] to differ by from the sum in float64.
struct Bounded {
  double exact = 0, allowed = 0;
};
Bounded reference(const Kernels& kernel, const Operand& operand, Arithmetic mode, const float* row, int64_t n);

/// Group, bits, scale type and format of a quantized weight.
struct Storage {
  int group, bits;
  Element scale;
  Format format;
  /// MLX's name of the format.
  const char* mode() const { return format == Format::affine ? "affine" : bits == 4 ? "mxfp4" : "mxfp8"; }
  std::string text() const;
};
Storage choose_storage(Random& random);

/// Rows of activations of different kinds: bell-shaped, with outliers, with empty groups, large or small as a whole.
std::vector<float> activations(Random& random, int64_t rows, int64_t columns);

}  // namespace rmx::cpu::cases
