// The fused blocks equal the table of kernels, step by step and row by row, bit for bit: with any rows, threads, pieces
// of a prompt, sequences beside each other, shared pages, and after rows were forgotten.
#include "blocks.h"

#include <algorithm>
#include <memory>

#include "attention_rows.h"
#include "kinds.h"
#include "mlx_arrays.h"

namespace rmx::cpu::cases {

namespace {

/// Affine, or where group and bits allow it sometimes mxfp4 or mxfp8.
Operand some_operand(Random& random, int64_t outputs, int64_t columns, int bits, int group) {
  if (group == 32 && (bits == 4 || bits == 8) && random.chance(40)) {
    return {random, outputs, columns, bits, group, Element::e8m0, bits == 4 ? Format::mxfp4 : Format::mxfp8};
  }
  return {random, outputs, columns, bits, group, random.pick({Element::f16, Element::bf16, Element::f32})};
}

/// A weight, as the block holds it and as the table takes it, and its bias.
struct Projection {
  Operand operand;
  Vector bias;
  Projection(Random& random, int64_t outputs, int64_t columns, int bits, int group, bool biased)
      : operand(some_operand(random, outputs, columns, bits, group)),
        bias(biased ? random.normals(outputs) : Vector{}) {}

  Matrix matrix(const std::string& name) const {
    const Weight& w = operand.weight();
    if (w.bits == 0) {
      std::vector<float> values(w.rows * w.columns);
      for (size_t i = 0; i < values.size(); i++) {
        const auto at = static_cast<int64_t>(i);
        values[i] = static_cast<float>(operand.value(at / w.columns, at % w.columns));
      }
      return Matrix::dense(name, to_array(values, {static_cast<int>(w.rows), static_cast<int>(w.columns)}, w.scale));
    }
    const WeightArrays arrays(operand);
    const char* mode = w.format == Format::affine ? "affine" : w.bits == 4 ? "mxfp4" : "mxfp8";
    return Matrix::quantized(name, arrays.codes, arrays.scales, arrays.biases, w.group, w.bits, mode);
  }

  /// One row, one thread, one piece.
  std::vector<float> apply(const Kernels& kernel, Arithmetic mode, const std::vector<float>& row) const {
    std::vector<float> y = multiply(kernel, operand.weight(), mode, row.data(), 0, 1, operand.weight().rows);
    for (size_t n = 0; n < bias.size(); n++) y[n] += bias[n];
    return y;
  }
};

std::vector<float> normed(const Kernels& kernel, const Norm& norm, const float* row, int width) {
  std::vector<float> out(width);
  kernel.rms_norm(row, width, norm.weight.data(), norm.epsilon, out.data());
  return out;
}

int choose_bits(Random& random) { return random.pick({4, 4, 8, 2, 3, 6, 0}); }

/// Mostly those of the matrix beside it.
int bits_beside(Random& random, const Projection& other) {
  return random.chance(70) ? other.operand.weight().bits : choose_bits(random);
}

Vector added(const float* x, const std::vector<float>& y) {
  Vector out(y.size());
  for (size_t n = 0; n < y.size(); n++) out[n] = x[n] + y[n];
  return out;
}

struct FeedForwardCase {
  int group, width, inner, rows;
  Element element;
  Norm norm;
  Projection gate, up, down;
  Stored x;

  explicit FeedForwardCase(Random& random)
      : group(random.pick({32, 64})), width(group * random.between(1, 6)), inner(group * random.between(1, 9)),
        rows(random.pick({1, 2, 3, 5, 8, 17, 40})), element(random.pick({Element::f32, Element::f32, Element::f16})),
        norm{random.normals(width), 1e-5f}, gate(random, inner, width, choose_bits(random), group, random.chance(30)),
        up(random, inner, width, bits_beside(random, gate), group, random.chance(30)),
        down(random, width, inner, choose_bits(random), group, random.chance(30)),
        x(element, random.normals(rows * width)) {}

  std::shared_ptr<const FeedForward> block() const {
    auto block = std::make_shared<FeedForward>();
    block->norm = norm;
    block->gate = gate.matrix("gate");
    block->up = up.matrix("up");
    block->down = down.matrix("down");
    block->gate_bias = gate.bias;
    block->up_bias = up.bias;
    block->down_bias = down.bias;
    block->check();
    return block;
  }

  std::vector<float> row(const Kernels& kernel, Arithmetic mode, int r) const {
    const float* in = x.values().data() + r * width;
    const std::vector<float> packed = normed(kernel, norm, in, width);
    std::vector<float> values = gate.apply(kernel, mode, packed);
    kernel.swiglu(values.data(), up.apply(kernel, mode, packed).data(), inner, values.data());
    return Stored(element, added(in, down.apply(kernel, mode, values))).values();
  }
};

/// A decoder's attention with one sequence's rows.
struct AttentionCase {
  int group, width, kv_heads, heads, head_dim;
  Element cache;
  Norm norm, query_norm, key_norm;
  Projection query, key, value, output;
  Rope rope;

  explicit AttentionCase(Random& random)
      : group(32), width(32 * random.between(1, 5)), kv_heads(random.between(1, 3)),
        heads(kv_heads * random.pick({1, 2, 3})), head_dim(random.pick({32, 64, 64, 96, 128})),
        cache(random.pick({Element::f32, Element::f16, Element::bf16})), norm{random.normals(width), 1e-5f},
        query(random, heads * head_dim, width, choose_bits(random), group, random.chance(30)),
        key(random, kv_heads * head_dim, width, bits_beside(random, query), group, random.chance(30)),
        value(random, kv_heads * head_dim, width, bits_beside(random, query), group, random.chance(30)),
        output(random, width, heads * head_dim, choose_bits(random), group, random.chance(30)) {
    if (random.chance(40)) query_norm = {random.normals(head_dim), 1e-6f};
    if (random.chance(40)) key_norm = {random.normals(head_dim), 1e-6f};
    const int dims = random.chance(70) ? head_dim : head_dim / 2;
    rope.rotation = {dims, random.chance(40)};
    rope.inverse = Vector(dims / 2);
    for (int i = 0; i < dims / 2; i++) rope.inverse[i] = static_cast<float>(std::pow(10000.0, -2.0 * i / dims));
    rope.scale = random.pick({1.0f, 0.5f});
    rope.amplitude = random.pick({1.0f, 1.0f, 1.25f});
  }

  float scale() const { return 1 / std::sqrt(static_cast<float>(head_dim)); }

  std::shared_ptr<const AttentionBlock> block() const {
    auto block = std::make_shared<AttentionBlock>();
    block->norm = norm;
    block->query = query.matrix("query");
    block->key = key.matrix("key");
    block->value = value.matrix("value");
    block->output = output.matrix("output");
    block->query_bias = query.bias;
    block->key_bias = key.bias;
    block->value_bias = value.bias;
    block->output_bias = output.bias;
    block->query_norm = query_norm;
    block->key_norm = key_norm;
    block->rope = rope;
    block->heads = heads;
    block->kv_heads = kv_heads;
    block->head_dim = head_dim;
    block->scale = scale();
    block->check();
    return block;
  }

  /// Norms, scales and rotates each head of a row in place.
  void turn(const Kernels& kernel, std::vector<float>& row, const Norm& head_norm, int position) const {
    const int half = rope.rotation.dims / 2;
    std::vector<float> cosines(half), sines(half), out(head_dim);
    kernel.angles(static_cast<float>(position) * rope.scale, rope.inverse.data(), half, cosines.data(), sines.data());
    for (float* head = row.data(); head < row.data() + row.size(); head += head_dim) {
      if (!head_norm.weight.empty()) kernel.rms_norm(head, head_dim, head_norm.weight.data(), head_norm.epsilon, head);
      if (rope.amplitude != 1) {
        for (int i = 0; i < head_dim; i++) head[i] *= rope.amplitude;
      }
      kernel.rotate(rope.rotation, head, head_dim, cosines.data(), sines.data(), out.data());
      std::copy(out.begin(), out.end(), head);
    }
  }

  /// All rows of a sequence from position 0, one at a time. [rows, width]
  std::vector<float> sequence(const Kernels& kernel, Arithmetic mode, const std::vector<float>& x) const {
    const int rows = static_cast<int>(x.size()) / width, kv_width = kv_heads * head_dim;
    std::vector<float> all_keys, all_values, queries;
    for (int r = 0; r < rows; r++) {
      const std::vector<float> in = normed(kernel, norm, x.data() + r * width, width);
      std::vector<float> q = query.apply(kernel, mode, in), k = key.apply(kernel, mode, in);
      const std::vector<float> v = value.apply(kernel, mode, in);
      turn(kernel, q, query_norm, r);
      turn(kernel, k, key_norm, r);
      queries.insert(queries.end(), q.begin(), q.end());
      all_keys.insert(all_keys.end(), k.begin(), k.end());
      all_values.insert(all_values.end(), v.begin(), v.end());
    }
    const Stored keys(cache, all_keys), values(cache, all_values);
    std::vector<float> out;
    for (int r = 0; r < rows; r++) {
      std::vector<float> mixed;
      for (int h = 0; h < heads; h++) {
        const int64_t first = h / (heads / kv_heads) * head_dim;
        const HeadKeys head = {&keys, &values, first, first, kv_width, kv_width, head_dim, head_dim};
        const std::vector<float> part =
            attend_all(kernel, head, queries.data() + (r * heads + h) * head_dim, {r + 1}, scale());
        mixed.insert(mixed.end(), part.begin(), part.end());
      }
      const Vector row = added(x.data() + r * width, output.apply(kernel, mode, mixed));
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }
};

/// A sequence that is fed in pieces.
struct Feeding {
  std::vector<float> x, wanted;
  std::shared_ptr<Cache> cache;
  int done = 0;
  int rows(int width) const { return static_cast<int>(x.size()) / width; }
};

/// Feeds random pieces of all sequences, several a call, until all are through.
void feed(
    Case& item, const AttentionCase& c, const std::shared_ptr<const AttentionBlock>& block,
    std::vector<Feeding>& sequences, const std::string& text) {
  while (true) {
    std::vector<float> x, wanted;
    std::vector<Span> spans;
    int begin = 0;
    for (Feeding& sequence : sequences) {
      const int left = sequence.rows(c.width) - sequence.done;
      if (left == 0) continue;
      const int count = item.random.chance(30) ? 1 : item.random.between(1, left);
      spans.push_back({begin, count, sequence.done, sequence.cache});
      const auto from = int64_t{sequence.done} * c.width, to = from + int64_t{count} * c.width;
      x.insert(x.end(), sequence.x.begin() + from, sequence.x.begin() + to);
      wanted.insert(wanted.end(), sequence.wanted.begin() + from, sequence.wanted.begin() + to);
      begin += count;
      sequence.done += count;
    }
    if (spans.empty()) return;
    const Threads scope(item.random.between(1, 4));
    const std::vector<float> y =
        to_floats(attention_block(block, to_array(x, {begin, c.width}), spans, cpu_stream()));
    item.report.expect(
        same_bits(y.data(), wanted.data(), static_cast<int64_t>(wanted.size())),
        text + ": " + std::to_string(begin) + " rows of " + std::to_string(spans.size()) +
            " sequences have other bits than one by one");
  }
}

}  // namespace

void feed_forward_block(Case& item) {
  const FeedForwardCase c(item.random);
  item.report.describe(
      std::to_string(c.rows) + " rows, width " + std::to_string(c.width) + ", inner " + std::to_string(c.inner) +
      ", bits " + std::to_string(c.gate.operand.weight().bits) + ", " + std::to_string(c.up.operand.weight().bits) +
      ", " + std::to_string(c.down.operand.weight().bits) + ", " + name_of(c.element));
  const mx::array x = to_array(c.x.values(), {c.rows, c.width}, c.element);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      const UseArithmetic use(mode);
      const Threads scope(item.random.between(1, 4));
      const std::vector<float> y = to_floats(feed_forward(c.block(), x, cpu_stream()));
      for (int r = 0; r < c.rows; r++) {
        item.report.expect(
            same_bits(c.row(kernel, mode, r).data(), y.data() + r * c.width, c.width),
            variant + " " + name_of(mode) + ": row " + std::to_string(r) + " has other bits than step by step");
      }
    }
  });
}

void attention_block(Case& item) {
  const AttentionCase c(item.random);
  const int rows = item.random.pick({1, 3, 20, 127, 129, 150}), other = item.random.between(1, 30);
  item.report.describe(
      std::to_string(c.heads) + " heads of " + std::to_string(c.head_dim) + " on " + std::to_string(c.kv_heads) +
      ", width " + std::to_string(c.width) + ", " + std::to_string(rows) + " and " + std::to_string(other) + " rows, " +
      name_of(c.cache));
  const std::vector<float> first = item.random.normals(rows * c.width), second = item.random.normals(other * c.width);
  const int kept = item.random.between(1, rows);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      const UseArithmetic use(mode);
      const std::string text = variant + " " + name_of(mode);
      auto cache = [&] { return std::make_shared<Cache>(c.kv_heads, c.head_dim, c.head_dim, c.cache); };
      const auto block = c.block();
      std::vector<Feeding> pair = {
          {first, c.sequence(kernel, mode, first), cache()}, {second, c.sequence(kernel, mode, second), cache()}};
      feed(item, c, block, pair, text);
      // A branch of the first sequence goes on otherwise; the first one forgets as many rows and says the same again.
      Feeding branch = {first, {}, pair[0].cache->fork(kept), kept};
      branch.x.resize(kept * c.width);
      branch.x.insert(branch.x.end(), second.begin(), second.end());
      branch.wanted = c.sequence(kernel, mode, branch.x);
      pair[0].cache->truncate(kept);
      std::vector<Feeding> after = {branch, {first, pair[0].wanted, pair[0].cache, kept}};
      feed(item, c, block, after, text + ", after a fork");
    }
  });
}

}  // namespace rmx::cpu::cases
