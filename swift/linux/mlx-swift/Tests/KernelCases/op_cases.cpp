// Our primitives as MLX ops: the bits of the table of kernels, and MLX's own op within both bounds.
#include "ops.h"

#include <algorithm>

#include "attention_rows.h"
#include "kinds.h"
#include "mlx_arrays.h"

namespace rmx::cpu::cases {

namespace {

/// Largest |a - b|, and the largest |b|.
std::pair<double, double> distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, size = 0;
  for (size_t i = 0; i < a.size(); i++) {
    const double difference = std::fabs(static_cast<double>(a[i]) - b[i]);
    most = difference <= most ? most : difference;
    size = std::max(size, std::fabs(static_cast<double>(b[i])));
  }
  return {most, size};
}

}  // namespace

void row_op(Case& item) {
  const int rows = item.random.between(1, 9), width = 2 * item.random.between(1, 300);
  const int offset = item.random.pick({0, 1, 127, 500, 4000});
  const bool traditional = item.random.chance(50);
  const int dims = item.random.chance(60) ? width : 2 * item.random.between(1, width / 2);
  const float scale = item.random.pick({1.0f, 0.25f});
  item.report.describe(
      std::to_string(rows) + "x" + std::to_string(width) + ", " + std::to_string(dims) + " rotated from " +
      std::to_string(offset) + (traditional ? ", traditional" : ""));
  const mx::array x = to_array(item.random.normals(rows * width), {1, 1, rows, width});
  const mx::array up = to_array(item.random.normals(rows * width), {1, 1, rows, width});
  const mx::array weight = to_array(item.random.normals(width), {width});
  const mx::Stream stream = cpu_stream();
  const std::vector<float> normed = to_floats(mx::fast::rms_norm(x, weight, 1e-5f, stream));
  const std::vector<float> rotated = to_floats(
      mx::fast::rope(x, dims, traditional, 10000.0f, scale, offset, std::nullopt, stream));
  const std::vector<float> gated =
      to_floats(mx::multiply(mx::multiply(x, mx::sigmoid(x, stream), stream), up, stream));
  with_every_variant([&](const Kernels&, const std::string& variant) {
    const Threads scope(item.random.between(1, 4));
    const auto compare = [&](const OptionalArray& found, const std::vector<float>& library, double relative,
                             const std::string& op) {
      item.report.expect(found.has_value(), variant + ": " + op + " was not taken");
      if (!found) return;
      const auto [difference, size] = distance(to_floats(*found), library);
      item.report.expect_within(difference, relative * size, variant + ": " + op + " beside MLX's op");
    };
    compare(rms_norm(x, weight, 1e-5f, stream), normed, roundings(width + 20), "rms_norm");
    compare(rmx::cpu::swiglu(x, up, stream), gated, roundings(32), "swiglu");
    // One rounding of the angle's frequency is offset * 2^-24 of a turn.
    const double turn = 4 * (offset + rows) * scale * kUnit + 1e-6;
    compare(
        rope(x, dims, traditional, 10000.0f, scale, offset, std::nullopt, std::nullopt, stream), rotated, 2 * turn,
        "rope");
  });
}

void attention_op(Case& item) {
  const int kv_heads = item.random.between(1, 3), group = item.random.pick({1, 2, 3, 4}), heads = kv_heads * group;
  const int head_dim = item.random.pick({64, 80, 128, 2 * item.random.between(1, 50)});
  const int rows = item.random.pick({1, 1, 2, 5, 33, item.random.between(1, 200)});
  const int keys = rows + item.random.pick({0, 0, 1, 126, 127, 128, 300});
  const Element cache = item.random.pick({Element::f32, Element::f16, Element::bf16});
  item.report.describe(
      std::to_string(heads) + " heads of " + std::to_string(head_dim) + " on " + std::to_string(kv_heads) + ", " +
      std::to_string(rows) + " rows, " + std::to_string(keys) + " keys, " + name_of(cache));
  const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
  const std::vector<float> queries = item.random.normals(heads * rows * head_dim);
  const Stored k(cache, item.random.normals(kv_heads * keys * head_dim)), v(cache, item.random.normals(k.size()));
  const mx::array q = to_array(queries, {1, heads, rows, head_dim});
  const mx::array ka = to_array(k.values(), {1, kv_heads, keys, head_dim}, cache);
  const mx::array va = to_array(v.values(), {1, kv_heads, keys, head_dim}, cache);
  const mx::Stream stream = cpu_stream();
  const std::vector<float> library = to_floats(mx::fast::scaled_dot_product_attention(
      q, mx::astype(ka, mx::float32), mx::astype(va, mx::float32), scale, "causal", {}, {}, stream));
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    const Threads scope(item.random.between(1, 4));
    const auto y = scaled_dot_product_attention(q, ka, va, scale, "causal", std::nullopt, std::nullopt, stream);
    item.report.expect(y.has_value(), variant + ": the op was not taken");
    if (!y) return;
    const std::vector<float> found = to_floats(*y);
    const auto [difference, size] = distance(found, library);
    item.report.expect_within(difference, roundings(8 * (head_dim + keys)) * (size + 1), variant + ": beside MLX's op");
    for (int sample = 0; sample < 6; sample++) {
      const int h = item.random.between(0, heads - 1), r = item.random.between(0, rows - 1);
      const int64_t first = int64_t{h / group} * keys * head_dim;
      const HeadKeys head = {&k, &v, first, first, head_dim, head_dim, head_dim, head_dim};
      const float* query = queries.data() + (h * rows + r) * head_dim;
      const std::vector<float> alone = attend_all(kernel, head, query, {keys - rows + r + 1}, scale);
      item.report.expect(
          same_bits(alone.data(), found.data() + (h * rows + r) * head_dim, head_dim),
          variant + ": head " + std::to_string(h) + ", row " + std::to_string(r) + " has other bits than alone");
    }
  });
}

}  // namespace rmx::cpu::cases
