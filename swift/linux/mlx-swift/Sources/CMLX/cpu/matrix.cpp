// Weights of the fused blocks: checks at load, so that no kernel meets a shape that it does not take.
#include "blocks.h"

namespace rmx::cpu {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& found) {
  throw std::invalid_argument("Cannot use " + name + " on the CPU kernels: " + found);
}

std::string text(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); i++) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

/// Evaluated, row-contiguous, and aligned to its elements.
array held(const std::string& name, array values) {
  values.eval();
  if (!values.flags().row_contiguous) {
    values = mlx::core::contiguous(values, false, mlx::core::Device::cpu);
    values.eval();
  }
  if (reinterpret_cast<uintptr_t>(values.data<char>()) % values.itemsize() != 0) {
    refuse(name, "its data is not aligned to its elements");
  }
  return values;
}

}  // namespace

Matrix Matrix::quantized(
    const std::string& name, const array& codes, const array& scales, const std::optional<array>& biases, int group,
    int bits, const std::string& mode) {
  const auto format = format_of(mode);
  if (!format) refuse(name, "mode \"" + mode + "\", wanted affine, mxfp4 or mxfp8");
  if (!takes(*format, group, bits)) {
    refuse(
        name, mode + " with " + std::to_string(bits) + " bits in groups of " + std::to_string(group) +
                  ", wanted affine with 2, 3, 4, 5, 6 or 8 bits in groups of 32, 64 or 128, mxfp4 with 4 or mxfp8 "
                  "with 8 in groups of 32");
  }
  const bool affine = *format == Format::affine;
  if (codes.ndim() != 2 || codes.dtype() != mlx::core::uint32 || scales.ndim() != 2 || biases.has_value() != affine) {
    refuse(
        name, "codes must be uint32 [N, words], scales [N, groups], with biases if affine and else without; found " +
                  text(codes.shape()) + " and " + text(scales.shape()));
  }
  const bool typed = affine ? scales.shape() == biases->shape() && scales.dtype() == biases->dtype() &&
                                  element_of(scales.dtype())
                            : scales.dtype() == mlx::core::uint8;
  if (!typed) refuse(name, affine ? "scales and biases must be floats of one shape" : "scales must be uint8");
  const int64_t columns = int64_t{scales.shape(1)} * group;
  if (codes.shape(0) != scales.shape(0) || int64_t{codes.shape(1)} * 32 != columns * bits || codes.size() == 0) {
    refuse(
        name, "codes " + text(codes.shape()) + " and scales " + text(scales.shape()) + " do not fit " +
                  std::to_string(bits) + " bits in groups of " + std::to_string(group));
  }
  Matrix matrix;
  matrix.held_ = {held(name, codes), held(name, scales)};
  if (affine) matrix.held_.push_back(held(name, *biases));
  matrix.weight_ = {
      matrix.held_[0].data<void>(),
      matrix.held_[1].data<void>(),
      affine ? matrix.held_[2].data<void>() : nullptr,
      affine ? *element_of(scales.dtype()) : Element::e8m0,
      bits,
      group,
      codes.shape(0),
      columns,
      *format};
  return matrix;
}

Matrix Matrix::dense(const std::string& name, const array& values) {
  if (values.ndim() != 2 || !element_of(values.dtype()) || values.size() == 0) {
    refuse(name, "wanted floats [N, K], found " + text(values.shape()));
  }
  Matrix matrix;
  matrix.held_ = {held(name, values)};
  matrix.weight_ = {matrix.held_[0].data<void>(),
                    nullptr,
                    nullptr,
                    *element_of(values.dtype()),
                    0,
                    0,
                    values.shape(0),
                    values.shape(1)};
  return matrix;
}

Vector read_vector(const std::string& name, const array& values, int64_t count) {
  if (values.ndim() != 1 || values.shape(0) != count || !element_of(values.dtype())) {
    refuse(name, "wanted floats [" + std::to_string(count) + "], found " + text(values.shape()));
  }
  const array evaluated = held(name, values);
  Vector out(count);
  kernels().widen(*element_of(evaluated.dtype()), evaluated.data<void>(), count, out.data());
  return out;
}

}  // namespace rmx::cpu
