// The gated feed-forward block: norm, gate and up, SwiGLU, down, residual.
#include "block_rows.h"

namespace rmx::cpu {

namespace {

// Pieces of the inner width: whole groups of rounded activations, so that a piece's values are ready to be packed.
constexpr int64_t kGranule = 32;

void add(const Vector& bias, int64_t begin, int64_t end, float* values) {
  if (bias.empty()) return;
  for (int64_t n = begin; n < end; n++) values[n - begin] += bias[n];
}

/// inner = silu(gate) * up, for the packed rows.
void multiply_and_gate(const FeedForward& block, const PackedRows& packed, const Floats& inner, float* up_values) {
  const Weight &gate = block.gate.weight(), &up = block.up.weight();
  const Timed timed(Stage::gate_up);
  count_bytes(Stage::gate_up, weight_bytes(gate) + weight_bytes(up));
  ThreadPool::shared().run_rows(gate.rows, kGranule, [&](int64_t begin, int64_t end) {
    kernels().product(gate, arithmetic(), packed.first, begin, end, inner.data, gate.rows);
    kernels().product(up, arithmetic(), packed.second, begin, end, up_values, gate.rows);
    for (int64_t row = 0; row < inner.count; row++) {
      float *values = inner.row(row) + begin, *factors = up_values + row * gate.rows + begin;
      add(block.gate_bias, begin, end, values);
      add(block.up_bias, begin, end, factors);
      kernels().swiglu(values, factors, end - begin, values);
    }
  });
}

class FeedForwardBlock : public Primitive {
 public:
  FeedForwardBlock(Stream stream, std::shared_ptr<const FeedForward> block)
      : Primitive(stream), block_(std::move(block)) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [block = block_, x = Rows(inputs[0]), target = out.data<void>(), element = *element_of(out.dtype())] {
          Scratch scratch;
          const Weight &gate = block->gate.weight(), &up = block->up.weight(), &down = block->down.weight();
          const PackedRows packed = norm_and_pack(x, block->norm, gate, up, scratch);
          const Floats inner = {scratch.take<float>(x.count() * gate.rows), x.count(), gate.rows};
          float* up_values = scratch.take<float>(x.count() * gate.rows);
          multiply_and_gate(*block, packed, inner, up_values);
          multiply_and_add(
              Stage::down, down, pack_floats(inner, down, scratch), block->down_bias, x, element, target);
        });
  }

  const char* name() const override { return "CPUFeedForward"; }

 private:
  std::shared_ptr<const FeedForward> block_;
};

}  // namespace

void FeedForward::check() const {
  const Weight &g = gate.weight(), &u = up.weight(), &d = down.weight();
  const auto width = static_cast<int64_t>(norm.weight.size());
  auto fits = [](const Vector& bias, int64_t count) {
    return bias.empty() || static_cast<int64_t>(bias.size()) == count;
  };
  const bool biases = fits(gate_bias, g.rows) && fits(up_bias, u.rows) && fits(down_bias, d.rows);
  if (!biases || width == 0 || g.columns != width || u.columns != width || d.rows != width || u.rows != g.rows ||
      d.columns != g.rows) {
    throw std::invalid_argument(
        "Cannot join a feed-forward block: norm of " + std::to_string(width) + ", gate " + std::to_string(g.rows) +
        "x" + std::to_string(g.columns) + ", up " + std::to_string(u.rows) + "x" + std::to_string(u.columns) +
        ", down " + std::to_string(d.rows) + "x" + std::to_string(d.columns));
  }
}

array feed_forward(std::shared_ptr<const FeedForward> block, const array& x, Stream stream) {
  if (x.ndim() != 2 || x.shape(1) != static_cast<int>(block->norm.weight.size()) || !element_of(x.dtype()) ||
      x.size() == 0) {
    throw std::invalid_argument(
        "Cannot run a feed-forward block of width " + std::to_string(block->norm.weight.size()) +
        ": wanted float rows [R, width]");
  }
  return array(x.shape(), x.dtype(), std::make_shared<FeedForwardBlock>(stream, std::move(block)), {x});
}

}  // namespace rmx::cpu
