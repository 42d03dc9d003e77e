// Softmax attention over contiguous keys and values as an MLX primitive, for decode and prefill alike.
#include <limits>

#include "attention_tiles.h"
#include "ops.h"

namespace rmx::cpu {

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

/// Batch entry `b` of an input [B, heads, T, D].
HeadRows head_rows(const array& a, int b) {
  // A view of one row or head may carry any stride there.
  if (a.shape(3) != 1 && a.strides(3) != 1) {
    throw std::invalid_argument("Cannot attend over heads whose elements are not adjacent in memory");
  }
  const Element element = *element_of(a.dtype());
  return {a.data<char>() + b * a.strides(0) * element_size(element), element, a.strides(1), a.strides(2)};
}

class Attention : public Primitive {
 public:
  Attention(Stream stream, float scale, bool causal, bool masked, bool sinks)
      : Primitive(stream), scale_(scale), causal_(causal), masked_(masked), sinks_(sinks) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    const array &q = inputs[0], &k = inputs[1], &v = inputs[2];
    set_row_major_heads(out);
    std::vector<AttentionJob> jobs(q.shape(0));
    for (int b = 0; b < q.shape(0); b++) {
      AttentionJob& job = jobs[b];
      job.queries = head_rows(q, b);
      job.key_rows = head_rows(k, b);
      job.value_rows = head_rows(v, b);
      if (masked_) {
        const array& mask = inputs[3];
        job.mask = {mask.data<float>() + b * mask.strides(0), mask.strides(1), mask.strides(2), mask.strides(3)};
      }
      job.sinks = sinks_ ? inputs.back().data<float>() : nullptr;
      job.out_element = *element_of(out.dtype());
      job.out = out.data<char>() + b * out.strides(0) * element_size(job.out_element);
      job.out_head = out.strides(1);
      job.out_row = out.strides(2);
      job.heads = q.shape(1);
      job.kv_heads = k.shape(1);
      job.rows = q.shape(2);
      job.keys = k.shape(2);
      job.head_dim = q.shape(3);
      job.value_dim = v.shape(3);
      job.scale = scale_;
      job.causal = causal_;
    }
    mlx::core::cpu::get_command_encoder(stream()).dispatch([jobs = std::move(jobs)] { attend(jobs); });
  }

  const char* name() const override { return "CPUAttention"; }
  bool is_equivalent(const mlx::core::Primitive& other) const override {
    const auto& same = static_cast<const Attention&>(other);
    return scale_ == same.scale_ && causal_ == same.causal_ && masked_ == same.masked_ && sinks_ == same.sinks_;
  }

 private:
  /// [B, H, T, V] laid out as [B, T, H, V]: the projection that follows reads whole rows without a copy.
  static void set_row_major_heads(array& out) {
    const int64_t heads = out.shape(1), rows = out.shape(2), width = out.shape(3);
    mlx::core::array::Flags flags = {};
    flags.contiguous = true;
    flags.row_contiguous = heads == 1 || rows == 1;
    flags.col_contiguous = out.size() == 1;
    out.set_data(
        mlx::core::allocator::malloc(out.nbytes()), out.size(), {rows * heads * width, width, heads * width, 1}, flags);
  }

  float scale_;
  bool causal_, masked_, sinks_;
};

/// The mask as float32 [B, H, T, S], to be added to the scores.
array additive(const array& mask, const Shape& shape, Stream stream) {
  array values = mask;
  if (mask.dtype() == mlx::core::bool_) {
    values = mlx::core::where(mask, array(0.0f), array(kNone), stream);
  }
  return mlx::core::broadcast_to(mlx::core::astype(values, mlx::core::float32, stream), shape, stream);
}

bool shapes_fit(const array& q, const array& k, const array& v) {
  if (q.ndim() != 4 || k.ndim() != 4 || v.ndim() != 4 || q.size() == 0 || k.size() == 0 || v.size() == 0) return false;
  return q.shape(0) == k.shape(0) && k.shape(0) == v.shape(0) && k.shape(1) == v.shape(1) && k.shape(2) == v.shape(2) &&
         q.shape(3) == k.shape(3) && q.shape(1) % k.shape(1) == 0 && v.shape(3) <= kHeadDimMax &&
         q.shape(3) <= kHeadDimMax;
}

}  // namespace

OptionalArray scaled_dot_product_attention(
    const array& q, const array& k, const array& v, float scale, const std::string& mask_mode,
    const OptionalArray& mask, const OptionalArray& sinks, Stream stream) {
  if (!shapes_fit(q, k, v) || !element_of(q.dtype()) || !element_of(k.dtype()) || k.dtype() != v.dtype()) {
    return std::nullopt;
  }
  const bool causal = mask_mode == "causal", masked = mask.has_value() && !causal;
  if ((!mask_mode.empty() && mask_mode != "causal" && mask_mode != "array") || (causal && k.shape(2) < q.shape(2))) {
    return std::nullopt;
  }
  if (mask_mode == "array" && !mask) return std::nullopt;
  if (sinks && (sinks->ndim() != 1 || sinks->shape(0) != q.shape(1))) return std::nullopt;
  std::vector<array> inputs = {q, k, v};
  if (!may_take_over(stream, inputs)) return std::nullopt;
  if (masked) {
    if (mask->ndim() > 4 || (mask->dtype() != mlx::core::bool_ && !element_of(mask->dtype()))) return std::nullopt;
    inputs.push_back(additive(*mask, {q.shape(0), q.shape(1), q.shape(2), k.shape(2)}, stream));
  }
  if (sinks) {
    inputs.push_back(mlx::core::contiguous(mlx::core::astype(*sinks, mlx::core::float32, stream), false, stream));
  }
  return array(
      {q.shape(0), q.shape(1), q.shape(2), v.shape(3)}, mlx::core::promote_types(q.dtype(), v.dtype()),
      std::make_shared<Attention>(stream, scale, causal, masked, sinks.has_value()), std::move(inputs));
}

}  // namespace rmx::cpu
