// The attention kernels against float64; a query's bits whatever shares its tile and however blocks are joined.
#include <algorithm>

#include "attention_rows.h"
#include "kinds.h"

namespace rmx::cpu::cases {

namespace {

/// Operands of one key head.
struct Operands {
  int rows, keys, head_dim, value_dim;
  float scale;
  Stored stored_keys, stored_values;
  std::vector<float> queries, mask;
  std::vector<int> visible;
  float sink;
  bool masked, has_sink;
  HeadKeys head;

  explicit Operands(Random& random)
      : rows(random.between(1, 32)),
        keys(random.pick({1, 2, 127, 128, 129, 255, 256, 257, 300, random.between(1, 600)})),
        head_dim(random.pick({64, 80, 128, 64, 20, random.between(1, 200)})),
        value_dim(random.chance(80) ? head_dim : random.between(1, 200)),
        scale(1 / std::sqrt(static_cast<float>(head_dim))),
        stored_keys(random.pick({Element::f32, Element::f16, Element::bf16}), random.normals(keys * stride(head_dim))),
        stored_values(stored_keys.element(), random.normals(keys * stride(value_dim))),
        queries(random.normals(rows * head_dim, random.pick({1.0f, 1.0f, 5.0f}))), masked(random.chance(25)),
        has_sink(random.chance(25)) {
    if (random.chance(3)) long_cache(random);
    head = {&stored_keys, &stored_values, 0, 0, stride(head_dim), stride(value_dim), head_dim, value_dim};
    // The rows of a prompt's end, each for some query heads; or rows that all see everything.
    const int group = random.pick({1, 3, 4}), last = (rows - 1) / group;
    const bool causal = random.chance(70);
    for (int r = 0; r < rows; r++) visible.push_back(causal ? std::max(1, keys - last + r / group) : keys);
    sink = random.normal() * 3;
    mask = random.normals(rows * keys);
    for (size_t i = 0; i < mask.size(); i++) {
      if (i % keys != 0 && random.chance(20)) mask[i] = -std::numeric_limits<float>::infinity();
    }
  }

  std::string words() const {
    return std::to_string(rows) + " queries, " + std::to_string(keys) + " keys, heads of " + std::to_string(head_dim) +
           " and " + std::to_string(value_dim) + ", " + name_of(stored_keys.element()) + (masked ? ", mask" : "") +
           (has_sink ? ", sink" : "");
  }

 private:
  /// Rows lie further apart than they are wide.
  static int64_t stride(int width) { return width + 3; }

  void long_cache(Random& random) {
    rows = 1;
    keys = random.between(4000, 4200);
    queries.resize(head_dim);
    stored_keys.~Stored();
    new (&stored_keys) Stored(Element::f16, random.normals(keys * stride(head_dim)));
    stored_values.~Stored();
    new (&stored_values) Stored(Element::f16, random.normals(keys * stride(value_dim)));
  }
};

void check_errors(Case& item, const Kernels& kernel, const Operands& o, const std::vector<float>& y) {
  for (int r : {0, o.rows / 2, o.rows - 1}) {
    const float* mask = o.masked ? o.mask.data() + r * o.keys : nullptr;
    const AttentionReference wanted = attention_reference(
        kernel, o.head, o.queries.data() + r * o.head_dim, o.visible[r], o.scale, o.has_sink ? &o.sink : nullptr, mask);
    for (int d = 0; d < o.value_dim; d++) {
      item.report.expect_within(
          std::fabs(y[r * o.value_dim + d] - wanted.exact[d]), wanted.allowed[d],
          std::string(kernel.name) + ", query " + std::to_string(r) + ", element " + std::to_string(d));
    }
  }
}

void check_bits(Case& item, const Kernels& kernel, const Operands& o, const std::vector<float>& y) {
  const float* sink = o.has_sink ? &o.sink : nullptr;
  for (int r : {0, o.rows / 2, o.rows - 1}) {
    const std::vector<float> mask(o.mask.begin() + r * o.keys, o.mask.begin() + (r + 1) * o.keys);
    const float* query = o.queries.data() + r * o.head_dim;
    const std::vector<float> alone =
        attend_all(kernel, o.head, query, {o.visible[r]}, o.scale, sink, o.masked ? &mask : nullptr);
    item.report.expect(
        same_bits(alone.data(), y.data() + r * o.value_dim, o.value_dim),
        std::string(kernel.name) + ": query " + std::to_string(r) + " has other bits alone than in its tile");
  }
  const int most = *std::max_element(o.visible.begin(), o.visible.end());
  Queries joined(kernel, o.queries.data(), o.rows, o.head_dim, o.value_dim, o.scale);
  for (int block = 0; block * kKeyBlock < most; block++) {
    Queries part(kernel, o.queries.data(), o.rows, o.head_dim, o.value_dim, o.scale);
    part.attend(o.head, block, o.visible, o.masked ? &o.mask : nullptr);
    joined.merge(part);
  }
  const std::vector<float> merged = joined.finish(sink);
  item.report.expect(
      same_bits(merged.data(), y.data(), static_cast<int64_t>(y.size())),
      std::string(kernel.name) + ": blocks that were made apart give other bits");
}

}  // namespace

void attention(Case& item) {
  const Operands o(item.random);
  item.report.describe(o.words());
  with_every_variant([&](const Kernels& kernel, const std::string&) {
    const std::vector<float> y = attend_all(
        kernel, o.head, o.queries.data(), o.visible, o.scale, o.has_sink ? &o.sink : nullptr,
        o.masked ? &o.mask : nullptr);
    check_errors(item, kernel, o, y);
    check_bits(item, kernel, o, y);
  });
}

}  // namespace rmx::cpu::cases
