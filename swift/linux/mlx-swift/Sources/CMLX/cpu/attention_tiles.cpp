// Cuts attention into tiles: some queries of one sequence times the query heads of one key head.
//
// Where tiles are too few for the threads (one row over a long cache), each block of keys becomes a piece of work with
// a softmax state of its own, merged in order after; the kernel merges in the same way when it runs blocks in turn.
#include "attention_tiles.h"

#include "profile.h"

#include <algorithm>
#include <limits>

namespace rmx::cpu {

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
// Query rows of one tile, over all heads that share the keys.
constexpr int kTileRows = 32;

/// One tile with its softmax state.
class TileWork {
 public:
  TileWork(const AttentionJob& job, int index, Scratch& scratch) : job_(job) {
    kv_head_ = index / job.tiles_per_head();
    first_ = index % job.tiles_per_head() * job.rows_per_tile();
    last_ = std::min(job.rows, first_ + job.rows_per_tile());
    const Kernels& kernel = kernels();
    const int64_t query_width = kernel.padded(job.head_dim);
    value_width_ = kernel.padded(job.value_dim);
    const int rows = (last_ - first_) * job.group();
    float* queries = scratch.take<float>(rows * query_width);
    visible_ = scratch.take<int>(rows);
    tile_ = {
        rows,
        job.head_dim,
        job.value_dim,
        queries,
        scratch.take<float>(rows),
        scratch.take<float>(rows),
        scratch.take<float>(rows * value_width_),
        scratch.take<float>(rows * kKeyBlock),
        scratch.take<float>(kernel.lanes * query_width)};
    mask_ = job.mask.data ? scratch.take<float>(rows * kKeyBlock) : nullptr;
    for (int r = 0; r < rows; r++) {
      float* query = queries + r * query_width;
      kernel.widen(job.queries.element, job.queries.at(head_of(r), row_of(r)), job.head_dim, query);
      for (int d = 0; d < job.head_dim; d++) query[d] *= job.scale;
      for (int64_t d = job.head_dim; d < query_width; d++) query[d] = 0;
    }
    std::fill_n(tile_.largest, rows, kNone);
    std::fill_n(tile_.total, rows, 0.0f);
    std::fill_n(tile_.values, rows * value_width_, 0.0f);
  }

  AttentionTile& state() { return tile_; }
  int rows() const { return tile_.rows; }
  int blocks() const { return (job_.limit(last_ - 1) + kKeyBlock - 1) / kKeyBlock; }

  void attend(int block) {
    const int start = block * kKeyBlock;
    const int count = std::min(kKeyBlock, job_.limit(last_ - 1) - start);
    for (int r = 0; r < rows(); r++) visible_[r] = std::clamp(job_.limit(row_of(r)) - start, 0, count);
    if (mask_) fill_mask(start, count);
    kernels().attend(tile_, job_.block(kv_head_, block, count), visible_, {mask_, kKeyBlock});
  }

  void finish() {
    Scratch scratch;
    const bool wide = job_.out_element == Element::f32;
    float* buffer = scratch.take<float>(value_width_);
    for (int r = 0; r < rows(); r++) {
      const float* sink = job_.sinks ? job_.sinks + head_of(r) : nullptr;
      const int64_t at = head_of(r) * job_.out_head + row_of(r) * job_.out_row;
      float* target = wide ? static_cast<float*>(job_.out) + at : buffer;
      kernels().finish(job_.value_dim, tile_.largest[r], tile_.total[r], tile_.values + r * value_width_, sink, target);
      if (!wide) kernels().narrow(job_.out_element, target, job_.value_dim, static_cast<uint16_t*>(job_.out) + at);
    }
  }

 private:
  int head_of(int r) const { return kv_head_ * job_.group() + r % job_.group(); }
  int row_of(int r) const { return first_ + r / job_.group(); }

  void fill_mask(int start, int count) {
    for (int r = 0; r < rows(); r++) {
      const float* row =
          job_.mask.data + head_of(r) * job_.mask.head + row_of(r) * job_.mask.row + start * job_.mask.key;
      for (int i = 0; i < count; i++) mask_[r * kKeyBlock + i] = row[i * job_.mask.key];
    }
  }

  const AttentionJob& job_;
  int kv_head_, first_, last_;
  int64_t value_width_;
  int* visible_;
  float* mask_;
  AttentionTile tile_;
};

/// Where a piece of work numbered over all jobs belongs.
class Numbering {
 public:
  template <class Count>
  Numbering(const std::vector<AttentionJob>& jobs, Count&& count) {
    for (const AttentionJob& job : jobs) {
      starts_.push_back(total_);
      total_ += count(job);
    }
  }
  int total() const { return total_; }
  int job_of(int index) const {
    return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), index) - starts_.begin()) - 1;
  }
  int within(int index) const { return index - starts_[job_of(index)]; }

 private:
  std::vector<int> starts_;
  int total_ = 0;
};

void run_whole_tiles(const std::vector<AttentionJob>& jobs) {
  const Numbering numbering(jobs, [](const AttentionJob& job) { return job.tiles(); });
  ThreadPool::shared().run(numbering.total(), [&](int chunk) {
    // The last rows of a prompt see most keys: long tiles first.
    const int index = numbering.total() - 1 - chunk;
    Scratch scratch;
    TileWork work(jobs[numbering.job_of(index)], numbering.within(index), scratch);
    for (int block = 0; block < work.blocks(); block++) work.attend(block);
    work.finish();
  });
}

void run_split_tiles(const std::vector<AttentionJob>& jobs) {
  const Numbering numbering(jobs, [](const AttentionJob& job) { return job.tiles() * job.blocks(); });
  const int64_t width = kernels().padded(jobs.front().value_dim), row_floats = width + 2;
  int rows_max = 0;
  for (const AttentionJob& job : jobs) rows_max = std::max(rows_max, job.rows_per_tile() * job.group());
  Scratch scratch;
  float* states = scratch.take<float>(int64_t{numbering.total()} * rows_max * row_floats);
  ThreadPool::shared().run(numbering.total(), [&](int index) {
    const AttentionJob& job = jobs[numbering.job_of(index)];
    const int tile = numbering.within(index) / job.blocks(), block = numbering.within(index) % job.blocks();
    Scratch inner;
    TileWork work(job, tile, inner);
    if (block >= work.blocks()) return;
    work.attend(block);
    float* state = states + index * rows_max * row_floats;
    for (int r = 0; r < work.rows(); r++, state += row_floats) {
      state[0] = work.state().largest[r];
      state[1] = work.state().total[r];
      std::copy_n(work.state().values + r * width, width, state + 2);
    }
  });
  int index = 0;
  for (const AttentionJob& job : jobs) {
    for (int tile = 0; tile < job.tiles(); tile++, index += job.blocks()) {
      Scratch inner;
      TileWork work(job, tile, inner);
      AttentionTile& own = work.state();
      for (int block = 0; block < work.blocks(); block++) {
        const float* state = states + int64_t{index + block} * rows_max * row_floats;
        for (int r = 0; r < work.rows(); r++, state += row_floats) {
          kernels().merge(
              job.value_dim, own.largest + r, own.total + r, own.values + r * width, state[0], state[1], state + 2);
        }
      }
      work.finish();
    }
  }
}

}  // namespace

int AttentionJob::rows_per_tile() const { return std::max(1, kTileRows / group()); }

KeyBlock AttentionJob::block(int kv_head, int block, int count) const {
  if (cache) return cache->block(kv_head, block, count);
  const int64_t row = int64_t{block} * kKeyBlock;
  return {
      key_rows.at(kv_head, row), value_rows.at(kv_head, row), key_rows.row, value_rows.row, key_rows.element, count};
}

int64_t AttentionJob::bytes() const {
  int64_t seen = 0;
  for (int tile = 0; tile < tiles_per_head(); tile++) seen += limit(std::min(rows, (tile + 1) * rows_per_tile()) - 1);
  const Element element = cache ? cache->element() : key_rows.element;
  return seen * kv_heads * (head_dim + value_dim) * element_size(element);
}

void attend(const std::vector<AttentionJob>& jobs) {
  const Timed timed(Stage::attention);
  int tiles = 0, blocks = 0;
  for (const AttentionJob& job : jobs) {
    count_bytes(Stage::attention, job.bytes());
    tiles += job.tiles();
    blocks = std::max(blocks, job.blocks());
  }
  const int threads = ThreadPool::shared().threads();
  if (threads > 1 && tiles < 4 * threads && blocks > 1) {
    run_split_tiles(jobs);
  } else {
    run_whole_tiles(jobs);
  }
}

}  // namespace rmx::cpu
