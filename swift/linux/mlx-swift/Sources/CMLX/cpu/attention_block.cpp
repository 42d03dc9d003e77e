// The attention block: norm, q/k/v, rotation, cache, attention, output, residual.
#include <algorithm>

#include "attention_tiles.h"
#include "block_rows.h"

namespace rmx::cpu {

namespace {

constexpr int64_t kGranule = 16;
constexpr int64_t kRowsPerPiece = 4;

/// One run of a block over the rows of a step.
class Run {
 public:
  Run(const AttentionBlock& block, const Rows& x, const std::vector<Span>& spans)
      : block_(block), x_(x), spans_(spans), queries_(block.query.weight().rows), keys_(block.key.weight().rows) {
    width_ = queries_ + 2 * keys_;
  }

  void operator()(Element element, void* out) {
    Scratch scratch;
    const Floats projected = {scratch.take<float>(x_.count() * width_), x_.count(), width_};
    project(projected, scratch);
    for (const Span& span : spans_) span.cache->prepare(span.position, span.position + span.count);
    place(projected);
    const Floats mixed = {scratch.take<float>(x_.count() * queries_), x_.count(), queries_};
    mix(projected, mixed);
    const Weight& output = block_.output.weight();
    multiply_and_add(Stage::output, output, pack_floats(mixed, output, scratch), block_.output_bias, x_, element, out);
  }

 private:
  /// q, k and v of all rows side by side, biases added.
  void project(const Floats& projected, Scratch& scratch) {
    const Weight& query = block_.query.weight();
    const Weight& key = block_.key.weight();
    const Weight& value = block_.value.weight();
    // A recipe may keep v at other bits than q and k; a third kind is packed on its own.
    const bool key_as_query = same_packing(query, key);
    const Weight& other = key_as_query ? value : key;
    const PackedRows packed = norm_and_pack(x_, block_.norm, query, other, scratch);
    const Activations& for_key = key_as_query ? packed.first : packed.second;
    Activations for_value = packed.second;
    if (!same_packing(value, other)) {
      for_value =
          same_packing(value, query) ? packed.first : norm_and_pack(x_, block_.norm, value, value, scratch).first;
    }
    const Timed timed(Stage::projections);
    count_bytes(Stage::projections, weight_bytes(query) + weight_bytes(key) + weight_bytes(value));
    ThreadPool::shared().run_rows(width_, kGranule, [&](int64_t begin, int64_t end) {
      product(query, packed.first, block_.query_bias, 0, begin, end, projected);
      product(key, for_key, block_.key_bias, queries_, begin, end, projected);
      product(value, for_value, block_.value_bias, queries_ + keys_, begin, end, projected);
    });
  }

  /// The part of columns [begin, end) that `weight`, whose columns start at `first`, makes.
  void product(
      const Weight& weight, const Activations& rows, const Vector& bias, int64_t first, int64_t begin, int64_t end,
      const Floats& out) {
    const int64_t from = std::max<int64_t>(begin - first, 0), to = std::min(end - first, weight.rows);
    if (from >= to) return;
    kernels().product(weight, arithmetic(), rows, from, to, out.data + first, out.width);
    if (bias.empty()) return;
    for (int64_t row = 0; row < out.count; row++) {
      for (int64_t n = from; n < to; n++) out.row(row)[first + n] += bias[n];
    }
  }

  /// Norms and rotates queries and keys, writes keys and values to the caches.
  void place(const Floats& projected) {
    const Timed timed(Stage::rotation);
    const int half = block_.rope.rotation.dims / 2;
    std::vector<int> span_of(x_.count());
    for (size_t s = 0; s < spans_.size(); s++) {
      std::fill_n(span_of.begin() + spans_[s].begin, spans_[s].count, static_cast<int>(s));
    }
    ThreadPool::shared().run_rows(projected.count, kRowsPerPiece, [&](int64_t begin, int64_t end) {
      Scratch inner;
      float* cosines = inner.take<float>(half);
      float* sines = inner.take<float>(half);
      float* buffer = inner.take<float>(block_.head_dim);
      for (int64_t row = begin; row < end; row++) {
        const Span& span = spans_[span_of[row]];
        const int64_t position = span.position + row - span.begin;
        kernels().angles(
            static_cast<float>(position) * block_.rope.scale, block_.rope.inverse.data(), half, cosines, sines);
        float* query = projected.row(row);
        float* key = query + queries_;
        const float* value = key + keys_;
        for (int h = 0; h < block_.heads; h++) {
          turn(query + h * block_.head_dim, block_.query_norm, cosines, sines, buffer);
        }
        for (int h = 0; h < block_.kv_heads; h++) {
          turn(key + h * block_.head_dim, block_.key_norm, cosines, sines, buffer);
          span.cache->write(position, h, key + h * block_.head_dim, value + h * block_.head_dim);
        }
      }
    });
  }

  void turn(float* head, const Norm& norm, const float* cosines, const float* sines, float* buffer) {
    const int width = block_.head_dim;
    if (!norm.weight.empty()) kernels().rms_norm(head, width, norm.weight.data(), norm.epsilon, head);
    if (block_.rope.amplitude != 1) {
      for (int i = 0; i < width; i++) head[i] *= block_.rope.amplitude;
    }
    kernels().rotate(block_.rope.rotation, head, width, cosines, sines, buffer);
    std::copy_n(buffer, width, head);
  }

  void mix(const Floats& projected, const Floats& mixed) {
    std::vector<AttentionJob> jobs(spans_.size());
    for (size_t s = 0; s < spans_.size(); s++) {
      const Span& span = spans_[s];
      AttentionJob& job = jobs[s];
      const char* queries = reinterpret_cast<const char*>(projected.row(span.begin));
      job.queries = {queries, Element::f32, block_.head_dim, width_};
      job.cache = span.cache.get();
      job.out = mixed.row(span.begin);
      job.out_head = block_.head_dim;
      job.out_row = queries_;
      job.heads = block_.heads;
      job.kv_heads = block_.kv_heads;
      job.rows = span.count;
      job.keys = static_cast<int>(span.position) + span.count;
      job.head_dim = job.value_dim = block_.head_dim;
      job.scale = block_.scale;
      job.causal = true;
    }
    attend(jobs);
  }

  const AttentionBlock& block_;
  const Rows& x_;
  const std::vector<Span>& spans_;
  int64_t queries_, keys_, width_;
};

class AttentionPrimitive : public Primitive {
 public:
  AttentionPrimitive(Stream stream, std::shared_ptr<const AttentionBlock> block, std::vector<Span> spans)
      : Primitive(stream), block_(std::move(block)), spans_(std::move(spans)) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [block = block_, spans = spans_, x = Rows(inputs[0]), target = out.data<void>(),
         element = *element_of(out.dtype())] { Run(*block, x, spans)(element, target); });
  }

  const char* name() const override { return "CPUAttentionBlock"; }

 private:
  std::shared_ptr<const AttentionBlock> block_;
  std::vector<Span> spans_;
};

}  // namespace

void AttentionBlock::check() const {
  const Weight &q = query.weight(), &k = key.weight(), &v = value.weight(), &o = output.weight();
  const auto width = static_cast<int64_t>(norm.weight.size());
  const int64_t queries = int64_t{heads} * head_dim, keys = int64_t{kv_heads} * head_dim;
  const bool sizes = heads > 0 && kv_heads > 0 && heads % kv_heads == 0 && head_dim > 0 && head_dim <= kHeadDimMax;
  const bool weights = q.columns == width && k.columns == width && v.columns == width && o.rows == width &&
                       q.rows == queries && k.rows == keys && v.rows == keys && o.columns == queries;
  auto fits = [](const Vector& values, int64_t count) {
    return values.empty() || static_cast<int64_t>(values.size()) == count;
  };
  const bool vectors = fits(query_bias, queries) && fits(key_bias, keys) && fits(value_bias, keys) &&
                       fits(output_bias, width) && fits(query_norm.weight, head_dim) && fits(key_norm.weight, head_dim);
  const bool angles = rope.rotation.dims > 0 && rope.rotation.dims % 2 == 0 && rope.rotation.dims <= head_dim &&
                      static_cast<int>(rope.inverse.size()) == rope.rotation.dims / 2;
  if (!sizes || !weights || !vectors || !angles) {
    throw std::invalid_argument(
        "Cannot join an attention block of width " + std::to_string(width) + " with " + std::to_string(heads) +
        " and " + std::to_string(kv_heads) + " heads of " + std::to_string(head_dim) +
        ": the sizes of its weights, biases, norms or angles do not fit");
  }
}

array attention_block(
    std::shared_ptr<const AttentionBlock> block, const array& x, std::vector<Span> spans, Stream stream) {
  int at = 0;
  for (const Span& span : spans) {
    const bool fits = span.begin == at && span.count > 0 && span.position >= 0 && span.cache &&
                      span.cache->kv_heads() == block->kv_heads && span.cache->head_dim() == block->head_dim &&
                      span.cache->value_dim() == block->head_dim;
    if (!fits) throw std::invalid_argument("Cannot attend: a span leaves a gap or its cache has other heads");
    at += span.count;
  }
  if (x.ndim() != 2 || x.shape(0) != at || x.shape(1) != static_cast<int>(block->norm.weight.size()) || at == 0 ||
      !element_of(x.dtype())) {
    throw std::invalid_argument(
        "Cannot run an attention block of width " + std::to_string(block->norm.weight.size()) + " over " +
        std::to_string(at) + " rows of spans: wanted float rows [R, width]");
  }
  return array(
      x.shape(), x.dtype(), std::make_shared<AttentionPrimitive>(stream, std::move(block), std::move(spans)), {x});
}

}  // namespace rmx::cpu
