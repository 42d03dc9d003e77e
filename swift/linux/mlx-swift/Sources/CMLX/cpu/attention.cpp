// Softmax attention as an MLX primitive, for decode and prefill alike.
//
// Work is cut into tiles: some queries times the query heads of one key head. Where tiles are too few for the threads
// (one row over a long cache), each block of keys becomes a piece of work with a state of its own, merged in order
// after.
#include <algorithm>
#include <limits>

#include "ops.h"
#include "primitive.h"

namespace rmx::cpu {

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
// Query rows of one tile, over all heads that share the keys.
constexpr int kTileRows = 32;
constexpr int kValueDimMax = 1024;

/// One input [B, heads, T, D] by address and strides.
struct View {
  const char* data;
  Element element;
  int64_t batch, head, row;

  explicit View(const array& a)
      : data(a.data<char>()), element(*element_of(a.dtype())), batch(a.strides(0)), head(a.strides(1)),
        row(a.strides(2)) {
    // A view of one row or head may carry any stride there.
    if (a.shape(3) != 1 && a.strides(3) != 1) {
      throw std::invalid_argument("Cannot attend over heads whose elements are not adjacent in memory");
    }
  }
  const void* at(int64_t b, int64_t h, int64_t r) const {
    return data + (b * batch + h * head + r * row) * element_size(element);
  }
};

struct MaskView {
  const float* data = nullptr;
  int64_t batch = 0, head = 0, row = 0, key = 0;
};

struct Job {
  View q, k, v;
  MaskView mask;
  const float* sinks;
  void* out;
  Element out_element;
  int batches, heads, kv_heads, rows, keys, head_dim, value_dim;
  float scale;
  bool causal;

  int group() const { return heads / kv_heads; }
  int rows_per_tile() const { return std::max(1, kTileRows / group()); }
  int tiles_per_head() const { return (rows + rows_per_tile() - 1) / rows_per_tile(); }
  int tiles() const { return batches * kv_heads * tiles_per_head(); }
  int blocks() const { return (keys + kKeyBlock - 1) / kKeyBlock; }
  /// Keys that query `row` sees: all up to its own position, which is aligned with the last key.
  int limit(int row) const { return causal ? std::max(0, keys - rows + row + 1) : keys; }
};

/// One tile with its softmax state.
class TileWork {
 public:
  TileWork(const Job& job, int index, Scratch& scratch) : job_(job) {
    const int per_head = job.tiles_per_head(), head = index / per_head;
    batch_ = head / job.kv_heads;
    kv_head_ = head % job.kv_heads;
    first_ = index % per_head * job.rows_per_tile();
    last_ = std::min(job.rows, first_ + job.rows_per_tile());
    const Kernels& kernel = kernels();
    const int64_t query_width = kernel.padded(job.head_dim);
    value_width_ = kernel.padded(job.value_dim);
    const int rows = (last_ - first_) * job.group();
    queries_ = scratch.take<float>(rows * query_width);
    visible_ = scratch.take<int>(rows);
    tile_ = {
        rows, job.head_dim, job.value_dim, queries_, scratch.take<float>(rows), scratch.take<float>(rows),
        scratch.take<float>(rows * value_width_), scratch.take<float>(rows * kKeyBlock),
        scratch.take<float>(kernel.lanes * query_width)};
    mask_ = job.mask.data ? scratch.take<float>(rows * kKeyBlock) : nullptr;
    for (int r = 0; r < rows; r++) {
      float* query = queries_ + r * query_width;
      kernel.widen(job.q.element, job.q.at(batch_, head_of(r), row_of(r)), job.head_dim, query);
      for (int d = 0; d < job.head_dim; d++) query[d] *= job.scale;
      for (int64_t d = job.head_dim; d < query_width; d++) query[d] = 0;
    }
    std::fill_n(tile_.largest, rows, kNone);
    std::fill_n(tile_.total, rows, 0.0f);
    std::fill_n(tile_.values, rows * value_width_, 0.0f);
  }

  int rows() const { return tile_.rows; }
  int64_t value_width() const { return value_width_; }
  AttentionTile& state() { return tile_; }
  int head_of(int r) const { return kv_head_ * job_.group() + r % job_.group(); }
  int row_of(int r) const { return first_ + r / job_.group(); }
  int blocks() const { return (job_.limit(last_ - 1) + kKeyBlock - 1) / kKeyBlock; }

  void attend(int block) {
    const int start = block * kKeyBlock;
    const int count = std::min(kKeyBlock, job_.limit(last_ - 1) - start);
    for (int r = 0; r < rows(); r++) visible_[r] = std::clamp(job_.limit(row_of(r)) - start, 0, count);
    if (mask_) fill_mask(start, count);
    const KeyBlock keys = {
        job_.k.at(batch_, kv_head_, start), job_.v.at(batch_, kv_head_, start), job_.k.row, job_.v.row, job_.k.element,
        count};
    kernels().attend(tile_, keys, visible_, {mask_, kKeyBlock});
  }

  void finish() {
    Scratch scratch;
    float* buffer = scratch.take<float>(value_width_);
    for (int r = 0; r < rows(); r++) {
      const float* sink = job_.sinks ? job_.sinks + head_of(r) : nullptr;
      const int64_t at = ((int64_t{batch_} * job_.rows + row_of(r)) * job_.heads + head_of(r)) * job_.value_dim;
      const bool wide = job_.out_element == Element::f32;
      float* target = wide ? static_cast<float*>(job_.out) + at : buffer;
      kernels().finish(job_.value_dim, tile_.largest[r], tile_.total[r], tile_.values + r * value_width_, sink, target);
      if (!wide) kernels().narrow(job_.out_element, target, job_.value_dim, static_cast<uint16_t*>(job_.out) + at);
    }
  }

 private:
  void fill_mask(int start, int count) {
    for (int r = 0; r < rows(); r++) {
      const float* row = job_.mask.data + batch_ * job_.mask.batch + head_of(r) * job_.mask.head +
                         row_of(r) * job_.mask.row + start * job_.mask.key;
      for (int i = 0; i < count; i++) mask_[r * kKeyBlock + i] = row[i * job_.mask.key];
    }
  }

  const Job& job_;
  int batch_, kv_head_, first_, last_;
  int64_t value_width_;
  float* queries_;
  int* visible_;
  float* mask_;
  AttentionTile tile_;
};

void run_whole_tiles(const Job& job) {
  ThreadPool::shared().run(job.tiles(), [&](int index) {
    Scratch scratch;
    // The last rows of a prompt see most keys: long tiles first.
    TileWork work(job, job.tiles() - 1 - index, scratch);
    for (int block = 0; block < work.blocks(); block++) work.attend(block);
    work.finish();
  });
}

void run_split_tiles(const Job& job) {
  const int blocks = job.blocks(), rows_max = job.rows_per_tile() * job.group();
  const int64_t width = kernels().padded(job.value_dim), row_floats = width + 2;
  Scratch scratch;
  float* states = scratch.take<float>(int64_t{job.tiles()} * blocks * rows_max * row_floats);
  auto state_of = [&](int tile, int block) { return states + (int64_t{tile} * blocks + block) * rows_max * row_floats; };
  ThreadPool::shared().run(job.tiles() * blocks, [&](int index) {
    Scratch inner;
    const int tile = index / blocks, block = index % blocks;
    TileWork work(job, tile, inner);
    if (block >= work.blocks()) return;
    work.attend(block);
    float* state = state_of(tile, block);
    for (int r = 0; r < work.rows(); r++, state += row_floats) {
      state[0] = work.state().largest[r];
      state[1] = work.state().total[r];
      std::copy_n(work.state().values + r * width, width, state + 2);
    }
  });
  for (int tile = 0; tile < job.tiles(); tile++) {
    Scratch inner;
    TileWork work(job, tile, inner);
    for (int block = 0; block < work.blocks(); block++) {
      const float* state = state_of(tile, block);
      for (int r = 0; r < work.rows(); r++, state += row_floats) {
        kernels().merge(
            job.value_dim, work.state().largest + r, work.state().total + r, work.state().values + r * width, state[0],
            state[1], state + 2);
      }
    }
    work.finish();
  }
}

class Attention : public Primitive {
 public:
  Attention(Stream stream, float scale, bool causal, bool masked, bool sinks)
      : Primitive(stream), scale_(scale), causal_(causal), masked_(masked), sinks_(sinks) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    const array &q = inputs[0], &k = inputs[1], &v = inputs[2];
    set_row_major_heads(out);
    Job job = {
        View(q), View(k), View(v), {}, nullptr, out.data<void>(), *element_of(out.dtype()), q.shape(0), q.shape(1),
        k.shape(1), q.shape(2), k.shape(2), q.shape(3), v.shape(3), scale_, causal_};
    size_t next = 3;
    if (masked_) {
      const array& mask = inputs[next++];
      job.mask = {mask.data<float>(), mask.strides(0), mask.strides(1), mask.strides(2), mask.strides(3)};
    }
    if (sinks_) job.sinks = inputs[next].data<float>();
    mlx::core::cpu::get_command_encoder(stream()).dispatch([job] {
      const int threads = ThreadPool::shared().threads();
      if (threads > 1 && job.tiles() < 2 * threads && job.blocks() > 1) {
        run_split_tiles(job);
      } else {
        run_whole_tiles(job);
      }
    });
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
  return q.shape(0) == k.shape(0) && k.shape(0) == v.shape(0) && k.shape(1) == v.shape(1) &&
         k.shape(2) == v.shape(2) && q.shape(3) == k.shape(3) && q.shape(1) % k.shape(1) == 0 &&
         v.shape(3) <= kValueDimMax && q.shape(3) <= kValueDimMax;
}

}  // namespace

OptionalArray scaled_dot_product_attention(
    const array& q, const array& k, const array& v, float scale, const std::string& mask_mode, const OptionalArray& mask,
    const OptionalArray& sinks, Stream stream) {
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
