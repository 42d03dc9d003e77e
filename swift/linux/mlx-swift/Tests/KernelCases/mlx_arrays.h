// Operands as MLX arrays, and results back.
#pragma once

#include <mlx/mlx.h>

#include <optional>

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

/// Codes, scales and biases of a quantized operand, as one matrix or as `experts` below each other.
struct WeightArrays {
  mx::array codes, scales;
  std::optional<mx::array> biases;

  explicit WeightArrays(const Operand& operand, int experts = 0)
      : codes(operand.codes().data<uint32_t>(),
              shape_of(operand, experts, operand.weight().columns * operand.weight().bits / 32), mx::uint32),
        scales(scales_of(operand, shape_of(operand, experts, operand.groups()))) {
    if (operand.weight().format != Format::affine) return;
    biases = to_array(operand.biases().values(), shape_of(operand, experts, operand.groups()), operand.weight().scale);
  }

  /// The same with floats widened to float32, for ops of MLX's that would else sum in the narrow type.
  WeightArrays wide() const {
    WeightArrays out = *this;
    if (biases) {
      out.scales = mx::astype(scales, mx::float32);
      out.biases = mx::astype(*biases, mx::float32);
    }
    return out;
  }

 private:
  static mx::Shape shape_of(const Operand& operand, int experts, int64_t width) {
    const auto rows = static_cast<int>(operand.weight().rows), columns = static_cast<int>(width);
    return experts ? mx::Shape{experts, rows / experts, columns} : mx::Shape{rows, columns};
  }
  static mx::array scales_of(const Operand& operand, mx::Shape shape) {
    if (operand.weight().format == Format::affine) {
      return to_array(operand.scales().values(), std::move(shape), operand.weight().scale);
    }
    return mx::array(static_cast<const uint8_t*>(operand.scales().data()), std::move(shape), mx::uint8);
  }
};

/// What rounding to `element` may add to an error at `value`.
inline double half_step(Element element, double value) {
  if (element == Element::f32) return 0;
  return element == Element::f16 ? std::fabs(value) * 0x1p-11 + 0x1p-25 : std::fabs(value) * 0x1p-8 + 0x1p-134;
}

}  // namespace rmx::cpu::cases
