// Quantized matrix products as an MLX primitive.
#include "ops.h"
#include "primitive.h"

namespace rmx::cpu {

namespace {

/// out [..., N] = x [..., K] x dequantized(w [N, K])^T.
class QuantizedMatmul : public Primitive {
 public:
  QuantizedMatmul(Stream stream, int group, int bits, Arithmetic arithmetic)
      : Primitive(stream), group_(group), bits_(bits), arithmetic_(arithmetic) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    const Weight weight = {
        inputs[1].data<void>(),
        inputs[2].data<void>(),
        inputs[3].data<void>(),
        *element_of(inputs[2].dtype()),
        bits_,
        group_,
        inputs[1].shape(0),
        int64_t{inputs[2].shape(1)} * group_};
    for (int i = 1; i < 4; i++) {
      if (!inputs[i].flags().row_contiguous) {
        throw std::invalid_argument("Cannot multiply with quantized weights that are not row-contiguous in memory");
      }
    }
    mlx::core::cpu::get_command_encoder(stream()).dispatch([weight, rows = Rows(inputs[0]), target = out.data<void>(),
                                                            element = *element_of(out.dtype()),
                                                            arithmetic = arithmetic_] {
      Scratch scratch;
      const Activations packed = pack(weight, arithmetic, rows, scratch);
      const int64_t size = rows.count() * weight.rows;
      float* y = element == Element::f32 ? static_cast<float*>(target) : scratch.take<float>(size);
      multiply(weight, arithmetic, packed, y, weight.rows);
      if (element != Element::f32) narrow(y, element, target, size);
    });
  }

  const char* name() const override { return "CPUQuantizedMatmul"; }

  bool is_equivalent(const mlx::core::Primitive& other) const override {
    const auto& same = static_cast<const QuantizedMatmul&>(other);
    return group_ == same.group_ && bits_ == same.bits_ && arithmetic_ == same.arithmetic_;
  }

 private:
  int group_, bits_;
  Arithmetic arithmetic_;
};

bool supported(int group, int bits) {
  return (group == 32 || group == 64 || group == 128) && bits >= 2 && bits <= 8 && bits != 7;
}

}  // namespace

OptionalArray quantized_matmul(
    const array& x, const array& w, const array& scales, const OptionalArray& biases, bool transpose, int group_size,
    int bits, const std::string& mode, Stream stream) {
  if (!transpose || mode != "affine" || !biases || !supported(group_size, bits)) return std::nullopt;
  if (w.ndim() != 2 || scales.ndim() != 2 || w.dtype() != mlx::core::uint32 || x.ndim() < 1 || x.size() == 0) {
    return std::nullopt;
  }
  const int columns = scales.shape(1) * group_size;
  const bool fits = x.shape(-1) == columns && int64_t{w.shape(1)} * 32 == int64_t{columns} * bits &&
                    w.shape(0) == scales.shape(0) && biases->shape() == scales.shape() && w.shape(0) > 0;
  if (!fits || !element_of(x.dtype()) || !element_of(scales.dtype()) || biases->dtype() != scales.dtype()) {
    return std::nullopt;
  }
  if (!may_take_over(stream, {x, w, scales, *biases})) return std::nullopt;
  Shape shape = x.shape();
  shape.back() = w.shape(0);
  return array(
      std::move(shape), mlx::core::promote_types(x.dtype(), scales.dtype()),
      std::make_shared<QuantizedMatmul>(stream, group_size, bits, arithmetic()), {x, w, scales, *biases});
}

}  // namespace rmx::cpu
