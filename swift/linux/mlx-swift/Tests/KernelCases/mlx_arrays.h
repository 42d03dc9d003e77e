// Operands as MLX arrays, and results back.
#pragma once

#include <mlx/mlx.h>

#include "elements.h"
#include "products.h"

namespace rmx::cpu::cases {

namespace mx = mlx::core;

inline mx::Dtype dtype_of(Element element) {
  return element == Element::f32 ? mx::float32 : element == Element::f16 ? mx::float16 : mx::bfloat16;
}

inline mx::Stream cpu_stream() { return mx::default_stream(mx::Device::cpu); }

/// Floats of `element`; what can't be held is rounded as Stored rounds it.
inline mx::array to_array(const std::vector<float>& values, mx::Shape shape, Element element = Element::f32) {
  mx::array out = mx::astype(mx::array(values.data(), std::move(shape), mx::float32), dtype_of(element), cpu_stream());
  out.eval();
  return out;
}

/// float32 values of an array, row by row.
inline std::vector<float> to_floats(const mx::array& values) {
  mx::array flat = mx::contiguous(mx::astype(values, mx::float32, cpu_stream()), false, cpu_stream());
  flat.eval();
  return {flat.data<float>(), flat.data<float>() + flat.size()};
}

/// Codes, scales and biases of a quantized operand.
struct WeightArrays {
  mx::array codes, scales, biases;
  explicit WeightArrays(const Operand& operand)
      : codes(operand.codes().data<uint32_t>(),
              {static_cast<int>(operand.weight().rows),
               static_cast<int>(operand.weight().columns * operand.weight().bits / 32)},
              mx::uint32),
        scales(to_array(operand.scales().values(), groups_of(operand), operand.weight().scale)),
        biases(to_array(operand.biases().values(), groups_of(operand), operand.weight().scale)) {}

 private:
  static mx::Shape groups_of(const Operand& operand) {
    return {static_cast<int>(operand.weight().rows), static_cast<int>(operand.groups())};
  }
};

/// What rounding to `element` may add to an error at `value`.
inline double half_step(Element element, double value) {
  if (element == Element::f32) return 0;
  return element == Element::f16 ? std::fabs(value) * 0x1p-11 + 0x1p-25 : std::fabs(value) * 0x1p-8 + 0x1p-134;
}

}  // namespace rmx::cpu::cases
