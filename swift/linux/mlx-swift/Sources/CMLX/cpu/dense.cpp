// Products with one dense matrix as an MLX primitive: x times the transpose of a weight, row-exact.
#include "ops.h"
#include "primitive.h"

namespace rmx::cpu {

namespace {

/// Copies b [K, N] to [N, K] in float32.
void transpose_to(const array& b, Element element, float* target) {
  const int64_t columns = b.shape(0), rows = b.shape(1), down = b.strides(0), across = b.strides(1);
  const char* data = b.data<char>();
  ThreadPool::shared().run_rows(rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; n++) {
      for (int64_t k = 0; k < columns; k++) {
        const char* at = data + (k * down + n * across) * element_size(element);
        kernels().widen(element, at, 1, target + n * columns + k);
      }
    }
  });
}

/// out [..., M, N] = a [..., M, K] x b [K, N].
class Matmul : public Primitive {
 public:
  using Primitive::Primitive;

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    const array& b = inputs[1];
    // A weight [N, K] that was transposed is read where it lies.
    const bool in_place = (b.strides(0) == 1 || b.shape(0) == 1) && (b.strides(1) == b.shape(0) || b.shape(1) == 1);
    mlx::core::cpu::get_command_encoder(stream()).dispatch([in_place, b = array::unsafe_weak_copy(b),
                                                            rows = Rows(inputs[0]), target = out.data<void>(),
                                                            element = *element_of(out.dtype())] {
      Scratch scratch;
      const Element stored = *element_of(b.dtype());
      Weight weight = {b.data<void>(), nullptr, nullptr, stored, 0, 0, b.shape(1), b.shape(0)};
      if (!in_place) {
        float* copied = scratch.take<float>(weight.rows * weight.columns);
        transpose_to(b, stored, copied);
        weight.codes = copied;
        weight.scale = Element::f32;
      }
      const Activations packed = pack(weight, Arithmetic::exact, rows, scratch);
      const int64_t size = rows.count() * weight.rows;
      float* y = element == Element::f32 ? static_cast<float*>(target) : scratch.take<float>(size);
      multiply(weight, Arithmetic::exact, packed, y, weight.rows);
      if (element != Element::f32) narrow(y, element, target, size);
    });
  }

  const char* name() const override { return "CPUMatmul"; }
  bool is_equivalent(const mlx::core::Primitive&) const override { return true; }
};

}  // namespace

OptionalArray matmul(const array& a, const array& b, Stream stream) {
  if (a.ndim() < 2 || b.ndim() != 2 || a.shape(-1) != b.shape(0) || a.size() == 0 || b.size() == 0) return std::nullopt;
  if (!element_of(a.dtype()) || !element_of(b.dtype()) || !may_take_over(stream, {a, b})) return std::nullopt;
  Shape shape = a.shape();
  shape.back() = b.shape(1);
  return array(
      std::move(shape), mlx::core::promote_types(a.dtype(), b.dtype()), std::make_shared<Matmul>(stream), {a, b});
}

}  // namespace rmx::cpu
