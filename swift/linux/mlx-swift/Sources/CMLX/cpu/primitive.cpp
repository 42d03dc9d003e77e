// Shared parts of the CPU primitives: row views, scratch memory, packing and multiplying on the pool.
#include "primitive.h"

#include "profile.h"

#include <cstdlib>
#include <new>

#include "../guard.h"

namespace rmx::cpu {

namespace {

// A thread keeps this much between jobs; larger pieces are given back at the end of their job.
constexpr size_t kKeptBytes = size_t{4} << 20;
constexpr size_t kAlignment = 64;

void* allocate(size_t size) {
  void* memory = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

struct KeptBlock {
  char* memory = static_cast<char*>(allocate(kKeptBytes));
  size_t used = 0;
  KeptBlock() { cmlx::count_borrowed(kKeptBytes); }
  ~KeptBlock() {
    std::free(memory);
    cmlx::count_borrowed(-static_cast<int64_t>(kKeptBytes));
  }
};

KeptBlock& kept_block() {
  thread_local KeptBlock block;
  return block;
}

}  // namespace

std::optional<Element> element_of(Dtype dtype) {
  if (dtype == mlx::core::float32) return Element::f32;
  if (dtype == mlx::core::float16) return Element::f16;
  if (dtype == mlx::core::bfloat16) return Element::bf16;
  return std::nullopt;
}

std::optional<Format> format_of(const std::string& mode) {
  if (mode == "affine") return Format::affine;
  if (mode == "mxfp4") return Format::mxfp4;
  if (mode == "mxfp8") return Format::mxfp8;
  return std::nullopt;
}

bool takes(Format format, int group, int bits) {
  if (format == Format::mxfp4) return group == 32 && bits == 4;
  if (format == Format::mxfp8) return group == 32 && bits == 8;
  return (group == 32 || group == 64 || group == 128) && bits >= 2 && bits <= 8 && bits != 7;
}

Weight rows_of(const Weight& weight, int64_t first, int64_t count) {
  Weight view = weight;
  view.rows = count;
  const int64_t element = element_size(weight.scale);
  if (weight.bits == 0) {
    view.codes = static_cast<const char*>(weight.codes) + first * weight.columns * element;
    return view;
  }
  const int64_t scales = first * (weight.columns / weight.group) * element;
  view.codes = static_cast<const char*>(weight.codes) + first * weight.columns * weight.bits / 8;
  view.scales = static_cast<const char*>(weight.scales) + scales;
  if (weight.biases) view.biases = static_cast<const char*>(weight.biases) + scales;
  return view;
}

bool may_take_over(const Stream& stream, const std::vector<array>& inputs) {
  if (stream.device != mlx::core::Device::cpu) return false;
  for (const array& input : inputs) {
    if (input.is_tracer()) return false;
  }
  return true;
}

Rows::Rows(const array& source)
    : data_(source.data<char>()),
      element_(*element_of(source.dtype())),
      shape_(source.shape()),
      strides_(source.strides()) {
  width_ = shape_.empty() ? 1 : shape_.back();
  count_ = width_ == 0 ? 0 : static_cast<int64_t>(source.size()) / width_;
  column_stride_ = strides_.empty() ? 1 : strides_.back();
  flat_ = source.flags().row_contiguous;
}

const float* Rows::read(int64_t index, float* buffer) const {
  int64_t offset = index * width_;
  if (!flat_) {
    offset = 0;
    for (int axis = static_cast<int>(shape_.size()) - 2; axis >= 0; axis--) {
      offset += index % shape_[axis] * strides_[axis];
      index /= shape_[axis];
    }
  }
  const char* row = data_ + offset * element_size(element_);
  const bool adjacent = flat_ || column_stride_ == 1 || width_ == 1;
  if (adjacent && element_ == Element::f32) return reinterpret_cast<const float*>(row);
  if (adjacent) {
    kernels().widen(element_, row, width_, buffer);
    return buffer;
  }
  for (int64_t column = 0; column < width_; column++) {
    const char* at = row + column * column_stride_ * element_size(element_);
    kernels().widen(element_, at, 1, buffer + column);
  }
  return buffer;
}

Scratch::Scratch() : mark_(kept_block().used) {}

Scratch::~Scratch() {
  kept_block().used = mark_;
  for (void* memory : large_) std::free(memory);
}

void* Scratch::bytes(int64_t size) {
  const size_t rounded = (static_cast<size_t>(size) + kAlignment - 1) / kAlignment * kAlignment;
  KeptBlock& kept = kept_block();
  if (kept.used + rounded <= kKeptBytes) {
    void* memory = kept.memory + kept.used;
    kept.used += rounded;
    return memory;
  }
  large_.push_back(allocate(rounded));
  return large_.back();
}

Activations pack(
    const Weight& weight, Arithmetic arithmetic, const Rows& rows, Scratch& scratch, const int64_t* which,
    int64_t some) {
  const int64_t count = which ? some : rows.count();
  const Kernels& kernel = kernels();
  const PackedSize size = kernel.packed_size(weight, arithmetic);
  const int64_t value_bytes = arithmetic_of(weight, arithmetic) == Arithmetic::fast ? 1 : 4;
  char* values = scratch.take<char>(count * size.values * value_bytes);
  float* scales = scratch.take<float>(count * size.scales);
  float* sums = scratch.take<float>(count * size.sums);
  // One row is packed faster than a second thread wakes.
  constexpr int64_t kRowsPerPiece = 4;
  const int64_t pieces = (count + kRowsPerPiece - 1) / kRowsPerPiece;
  float* buffers = scratch.take<float>(pieces * rows.width());
  ThreadPool::shared().run_rows(pieces, 1, [&](int64_t begin, int64_t end) {
    float* buffer = buffers + begin * rows.width();
    const int64_t last = end * kRowsPerPiece < count ? end * kRowsPerPiece : count;
    for (int64_t row = begin * kRowsPerPiece; row < last; row++) {
      kernel.pack_row(
          weight, arithmetic, rows.read(which ? which[row] : row, buffer), values + row * size.values * value_bytes,
          scales + row * size.scales, sums + row * size.sums);
    }
  });
  return {count, values, scales, sums};
}

void multiply(const Weight& weight, Arithmetic arithmetic, const Activations& rows, float* y, int64_t stride) {
  constexpr int64_t kGranule = 8;
  const Kernels& kernel = kernels();
  const Timed timed(Stage::other);
  count_bytes(Stage::other, weight_bytes(weight));
  ThreadPool::shared().run_rows(weight.rows, kGranule, [&](int64_t begin, int64_t end) {
    kernel.product(weight, arithmetic, rows, begin, end, y, stride);
  });
}

void narrow(const float* source, Element element, void* target, int64_t count) {
  constexpr int64_t kGranule = 16384;
  const Kernels& kernel = kernels();
  ThreadPool::shared().run_rows(count, kGranule, [&](int64_t begin, int64_t end) {
    kernel.narrow(element, source + begin, end - begin, static_cast<uint16_t*>(target) + begin);
  });
}

}  // namespace rmx::cpu
