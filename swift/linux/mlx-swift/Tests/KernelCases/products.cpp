// Products by the table of kernels, and in float64 with their bounds.
#include "products.h"

#include <algorithm>

#include "threads.h"

namespace rmx::cpu::cases {

namespace {

std::vector<float> scale_values(Random& random, int64_t count, int bits) {
  std::vector<float> values = random.normals(count, 0.1f / static_cast<float>(1 << bits));
  // Some groups are constant: their scale is zero.
  for (float& value : values) value = random.chance(2) ? 0.0f : value;
  return values;
}

/// Powers of two, as e8m0 holds them, some tiny; weights stay small enough for caches of float16.
std::vector<float> exponents(Random& random, int64_t count, int bits) {
  const int top = bits == 4 ? -2 : -8;
  std::vector<float> values(count);
  for (float& value : values) {
    value = std::ldexp(1.0f, random.chance(5) ? random.between(-60, top) : random.between(top - 8, top));
  }
  return values;
}

int64_t code_bytes(int64_t outputs, int64_t columns, int bits, Element scale) {
  return bits ? outputs * columns * bits / 8 : outputs * columns * bytes_of(scale);
}

}  // namespace

Operand::Operand(
    Random& random, int64_t outputs, int64_t columns, int bits, int group, Element scale, Format format)
    : codes_(code_bytes(outputs, columns, bits, scale), (bits ? 4 : bytes_of(scale)) * random.between(0, 5)),
      scales_(
          scale,
          format == Format::affine ? scale_values(random, bits ? outputs * columns / group : 0, bits)
                                   : exponents(random, outputs * columns / group, bits),
          bytes_of(scale) * random.between(0, 5)),
      biases_(
          format == Format::affine ? scale : Element::f32,
          random.normals(bits && format == Format::affine ? outputs * columns / group : 0, 0.1f),
          bytes_of(scale) * random.between(0, 5)) {
  if (bits) {
    for (int64_t i = 0; i < outputs * columns * bits / 8; i++) codes_.data<uint8_t>()[i] = random.next() & 0xff;
  } else {
    const Stored dense(scale, random.normals(outputs * columns, 0.1f));
    std::memcpy(codes_.data(), dense.data(), outputs * columns * bytes_of(scale));
  }
  weight_ = {codes_.data(), scales_.data(), format == Format::affine ? biases_.data() : nullptr,
             scale,         bits,           group,
             outputs,       columns,        format};
}

double Operand::value(int64_t n, int64_t k) const {
  if (weight_.bits == 0) {
    const int64_t at = n * weight_.columns + k;
    if (weight_.scale == Element::f32) return codes_.data<float>()[at];
    return decode_half(weight_.scale, codes_.data<uint16_t>()[at]);
  }
  const int64_t bit = (n * weight_.columns + k) * weight_.bits, group = n * groups() + k / weight_.group;
  const uint8_t* bytes = codes_.data<uint8_t>();
  unsigned code = bytes[bit / 8] >> (bit % 8);
  if (bit % 8 + weight_.bits > 8) code |= bytes[bit / 8 + 1] << (8 - bit % 8);
  code &= (1u << weight_.bits) - 1;
  if (weight_.format != Format::affine) return scales_.values()[group] * decode_small(weight_.format, code);
  return static_cast<double>(scales_.values()[group]) * code + biases_.values()[group];
}

double Operand::reach(int64_t n, int64_t k) const {
  if (weight_.bits == 0) return std::fabs(value(n, k));
  const int64_t group = n * groups() + k / weight_.group;
  if (weight_.format != Format::affine) return scales_.values()[group] * (weight_.bits == 4 ? 18.0 : 480.0);
  const int top = (1 << weight_.bits) - 1;
  return std::fabs(static_cast<double>(scales_.values()[group])) * top +
         std::fabs(static_cast<double>(biases_.values()[group]));
}

std::vector<float> multiply(
    const Kernels& kernel, const Weight& weight, Arithmetic mode, const float* x, int64_t begin, int64_t end,
    int64_t granule) {
  const PackedSize size = kernel.packed_size(weight, mode);
  const int64_t rows = end - begin, value_bytes = arithmetic_of(weight, mode) == Arithmetic::fast ? 1 : 4;
  const Exact values(rows * size.values * value_bytes), scales(rows * size.scales * 4), sums(rows * size.sums * 4);
  for (int64_t row = 0; row < rows; row++) {
    kernel.pack_row(
        weight, mode, x + (begin + row) * weight.columns, values.data() + row * size.values * value_bytes,
        scales.data<float>() + row * size.scales, sums.data<float>() + row * size.sums);
  }
  std::vector<float> y(rows * weight.rows, std::numeric_limits<float>::quiet_NaN());
  const Activations packed = {rows, values.data(), scales.data<float>(), sums.data<float>()};
  ThreadPool::shared().run_rows(weight.rows, granule, [&](int64_t first, int64_t last) {
    kernel.product(weight, mode, packed, first, last, y.data(), weight.rows);
  });
  return y;
}

Bounded reference(const Kernels& kernel, const Operand& operand, Arithmetic mode, const float* row, int64_t n) {
  const Weight& weight = operand.weight();
  const int per_lane = weight.bits == 0 ? 1 : weight.bits == 2 ? 16 : weight.bits == 4 ? 8 : 4;
  const int64_t lanes = kernel.lanes, block = per_lane * lanes;
  const double passed = static_cast<double>(
      per_lane + (weight.columns + block - 1) / block + (operand.groups() + lanes - 1) / lanes + log2_of(kernel.lanes) +
      6);
  const bool rounded = arithmetic_of(weight, mode) == Arithmetic::fast;
  Bounded out;
  double magnitude = 0;
  for (int64_t first = 0; first < weight.columns; first += 32) {
    const int64_t last = std::min(first + 32, weight.columns);
    double peak = 0;
    for (int64_t k = first; k < last; k++) peak = std::max(peak, std::fabs(static_cast<double>(row[k])));
    // Half a step, and what the float32 quotient (at most 127) may be off.
    const double step = rounded ? peak / 127 * (0.5 + 0x1p-15) : 0;
    for (int64_t k = first; k < last; k++) {
      const double w = operand.value(n, k);
      out.exact += w * row[k];
      out.allowed += std::fabs(w) * step;
      magnitude += operand.reach(n, k) * (std::fabs(static_cast<double>(row[k])) + step);
    }
  }
  // The last term: products below the normal range of float32.
  out.allowed += roundings(passed) * magnitude + static_cast<double>(weight.columns) * 0x1p-140;
  return out;
}

std::string Storage::text() const {
  const std::string of = format == Format::affine ? std::string(", ") + name_of(scale) : "";
  return std::string(mode()) + ", " + std::to_string(bits) + " bits in groups of " + std::to_string(group) + of;
}

Storage choose_storage(Random& random) {
  const Format format = random.pick({Format::affine, Format::affine, Format::affine, Format::mxfp4, Format::mxfp8});
  if (format != Format::affine) return {32, format == Format::mxfp4 ? 4 : 8, Element::e8m0, format};
  return {
      random.pick({32, 64, 128}), random.pick({2, 3, 4, 4, 5, 6, 8}),
      random.pick({Element::f16, Element::bf16, Element::f32}), format};
}

std::vector<float> activations(Random& random, int64_t rows, int64_t columns) {
  std::vector<float> x(rows * columns);
  for (int64_t row = 0; row < rows; row++) {
    const float scale = std::ldexp(1.0f, random.pick({0, 0, 0, -20, 12}));
    const int kind = random.between(0, 3);
    for (int64_t k = 0; k < columns; k++) {
      float value = random.normal() * scale;
      if (kind == 1 && random.chance(1)) value *= 100;
      if (kind == 2 && k / 32 % 3 == 1) value = 0;
      x[row * columns + k] = value;
    }
  }
  return x;
}

}  // namespace rmx::cpu::cases
