// Steps shared by the fused blocks: norm and pack, multiply and add.
#include "block_rows.h"

namespace rmx::cpu {

namespace {

// A row is normed and packed in about a microsecond, which is what handing it to another thread costs.
constexpr int64_t kRowsPerPiece = 2;
constexpr int64_t kGranule = 8;

int stored_bits(const Weight& weight) {
  return weight.bits == 3 || weight.bits == 5 || weight.bits == 6 ? 8 : weight.bits;
}

/// Room for the packed rows of one product.
class Packing {
 public:
  Packing(int64_t rows, const Weight& weight, Scratch& scratch)
      : weight_(weight), arithmetic_(arithmetic()), size_(kernels().packed_size(weight, arithmetic_)), rows_(rows) {
    value_bytes_ = arithmetic_of(weight, arithmetic_) == Arithmetic::fast ? 1 : 4;
    values_ = scratch.take<char>(rows * size_.values * value_bytes_);
    scales_ = scratch.take<float>(rows * size_.scales);
    sums_ = scratch.take<float>(rows * size_.sums);
  }
  void pack(int64_t row, const float* values) const {
    kernels().pack_row(
        weight_, arithmetic_, values, values_ + row * size_.values * value_bytes_, scales_ + row * size_.scales,
        sums_ + row * size_.sums);
  }
  Activations activations() const { return {rows_, values_, scales_, sums_}; }

 private:
  const Weight& weight_;
  Arithmetic arithmetic_;
  PackedSize size_;
  int64_t rows_, value_bytes_;
  char* values_;
  float *scales_, *sums_;
};

}  // namespace

bool same_packing(const Weight& a, const Weight& b) {
  const bool as_fine = arithmetic_of(a, Arithmetic::fast) == arithmetic_of(b, Arithmetic::fast);
  return as_fine && stored_bits(a) == stored_bits(b) && a.group == b.group && a.columns == b.columns;
}

PackedRows norm_and_pack(
    const Rows& rows, const Norm& norm, const Weight& weight, const Weight& other, Scratch& scratch) {
  const bool same = same_packing(weight, other);
  const Timed timed(Stage::norm);
  const Packing first(rows.count(), weight, scratch);
  const Packing second(same ? 0 : rows.count(), other, scratch);
  ThreadPool::shared().run_rows(rows.count(), kRowsPerPiece, [&](int64_t begin, int64_t end) {
    Scratch inner;
    float* buffer = inner.take<float>(rows.width());
    float* normed = inner.take<float>(rows.width());
    for (int64_t row = begin; row < end; row++) {
      kernels().rms_norm(rows.read(row, buffer), rows.width(), norm.weight.data(), norm.epsilon, normed);
      first.pack(row, normed);
      if (!same) second.pack(row, normed);
    }
  });
  return {first.activations(), same ? first.activations() : second.activations()};
}

Activations pack_floats(const Floats& rows, const Weight& weight, Scratch& scratch) {
  const Timed timed(Stage::norm);
  const Packing packing(rows.count, weight, scratch);
  ThreadPool::shared().run_rows(rows.count, kRowsPerPiece, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) packing.pack(row, rows.row(row));
  });
  return packing.activations();
}

void multiply_and_add(
    Stage stage, const Weight& weight, const Activations& rows, const Vector& bias, const Rows& residual,
    Element element, void* out) {
  const Kernels& kernel = kernels();
  const Arithmetic mode = arithmetic();
  const Timed timed(stage);
  count_bytes(stage, weight_bytes(weight));
  ThreadPool::shared().run_rows(weight.rows, kGranule, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    const int64_t width = weight.rows;
    const bool wide = element == Element::f32;
    float* y = wide ? static_cast<float*>(out) : scratch.take<float>(rows.rows * width);
    float* buffer = scratch.take<float>(width);
    kernel.product(weight, mode, rows, begin, end, y, width);
    for (int64_t row = 0; row < rows.rows; row++) {
      const float* x = residual.read(row, buffer);
      float* target = y + row * width;
      for (int64_t n = begin; n < end; n++) target[n] = x[n] + (bias.empty() ? target[n] : target[n] + bias[n]);
      if (!wide) {
        kernel.narrow(element, target + begin, end - begin, static_cast<uint16_t*>(out) + row * width + begin);
      }
    }
  });
}

}  // namespace rmx::cpu
