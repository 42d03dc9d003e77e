// Row-wise primitives: RMS norm, SwiGLU, rotary embedding.
#include <cmath>
#include <memory>

#include "ops.h"
#include "primitive.h"

namespace rmx::cpu {

namespace {

// Work below this many elements is done by one thread: waking another costs more.
constexpr int64_t kElementsPerThread = 32768;

/// Calls body(row, row buffer in, row buffer out) for each row, then rounds the result if the output is a half type.
template <class Body>
void each_row(const Rows& rows, Element element, void* target, Body&& body) {
  const int64_t width = rows.width();
  const int64_t granule = std::max<int64_t>(1, kElementsPerThread / std::max<int64_t>(1, width));
  ThreadPool::shared().run_rows(rows.count(), granule, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    float* in = scratch.take<float>(width);
    float* out = scratch.take<float>(width);
    for (int64_t row = begin; row < end; row++) {
      if (element == Element::f32) {
        body(row, rows.read(row, in), static_cast<float*>(target) + row * width);
        continue;
      }
      body(row, rows.read(row, in), out);
      kernels().narrow(element, out, width, static_cast<uint16_t*>(target) + row * width);
    }
  });
}

class RMSNorm : public Primitive {
 public:
  RMSNorm(Stream stream, float epsilon) : Primitive(stream), epsilon_(epsilon) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch([rows = Rows(inputs[0]), weights = Rows(inputs.back()),
                                                            weighted = inputs.size() > 1, target = out.data<void>(),
                                                            element = *element_of(out.dtype()), epsilon = epsilon_] {
      Scratch scratch;
      const float* weight = weighted ? weights.read(0, scratch.take<float>(weights.width())) : nullptr;
      each_row(rows, element, target, [&](int64_t, const float* in, float* result) {
        kernels().rms_norm(in, rows.width(), weight, epsilon, result);
      });
    });
  }

  const char* name() const override { return "CPURMSNorm"; }
  bool is_equivalent(const mlx::core::Primitive& other) const override {
    return epsilon_ == static_cast<const RMSNorm&>(other).epsilon_;
  }

 private:
  float epsilon_;
};

class SwiGLU : public Primitive {
 public:
  using Primitive::Primitive;

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [gate = Rows(inputs[0]), up = Rows(inputs[1]), target = out.data<void>(), element = *element_of(out.dtype())] {
          each_row(gate, element, target, [&](int64_t row, const float* in, float* result) {
            Scratch scratch;
            kernels().swiglu(in, up.read(row, scratch.take<float>(up.width())), gate.width(), result);
          });
        });
  }

  const char* name() const override { return "CPUSwiGLU"; }
  bool is_equivalent(const mlx::core::Primitive&) const override { return true; }
};

/// Kept for the next call: every layer of a model asks for the same.
std::shared_ptr<const std::vector<float>> known_frequencies(int half, float base) {
  thread_local int known_half = -1;
  thread_local float known_base = 0;
  thread_local std::shared_ptr<const std::vector<float>> known;
  if (known_half != half || known_base != base) {
    known = std::make_shared<const std::vector<float>>(inverse_frequencies(half, base));
    known_half = half;
    known_base = base;
  }
  return known;
}

class RoPE : public Primitive {
 public:
  struct Settings {
    Rotation rotation;
    float base;
    float scale;
    int offset;
    bool has_offset_array;
    bool has_freqs;
  };

  RoPE(Stream stream, Settings settings) : Primitive(stream), settings_(settings) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    const array& x = inputs[0];
    const Settings& s = settings_;
    size_t next = 1;
    const int32_t* offsets = s.has_offset_array ? inputs[next].data<int32_t>() : nullptr;
    const int64_t offset_count = s.has_offset_array ? static_cast<int64_t>(inputs[next].size()) : 1;
    const int64_t offset_stride = s.has_offset_array && inputs[next].ndim() == 1 ? inputs[next].strides(0) : 0;
    auto frequencies = s.has_freqs ? nullptr : known_frequencies(s.rotation.dims / 2, s.base);
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [s, offsets, offset_count, offset_stride, frequencies, freqs = Rows(inputs.back()), rows = Rows(x),
         times = int64_t{x.shape(-2)}, batch = int64_t{x.shape(0)}, target = out.data<void>(),
         element = *element_of(out.dtype())] {
          const int half = s.rotation.dims / 2;
          Scratch scratch;
          float* inverse = scratch.take<float>(half);
          const float* periods = s.has_freqs ? freqs.read(0, inverse) : nullptr;
          for (int i = 0; i < half; i++) inverse[i] = periods ? 1.0f / periods[i] : (*frequencies)[i];
          float* cosines = scratch.take<float>(offset_count * times * half);
          float* sines = scratch.take<float>(offset_count * times * half);
          for (int64_t i = 0; i < offset_count * times; i++) {
            const int64_t first = offsets ? offsets[i / times * offset_stride] : s.offset;
            const float position = static_cast<float>(first + i % times) * s.scale;
            kernels().angles(position, inverse, half, cosines + i * half, sines + i * half);
          }
          const int64_t rows_per_batch = rows.count() / batch;
          each_row(rows, element, target, [&](int64_t row, const float* in, float* result) {
            const int64_t entry = (offset_count > 1 ? row / rows_per_batch * times : 0) + row % times;
            kernels().rotate(s.rotation, in, rows.width(), cosines + entry * half, sines + entry * half, result);
          });
        });
  }

  const char* name() const override { return "CPURoPE"; }
  bool is_equivalent(const mlx::core::Primitive& other) const override {
    const Settings &a = settings_, &b = static_cast<const RoPE&>(other).settings_;
    return a.rotation.dims == b.rotation.dims && a.rotation.traditional == b.rotation.traditional && a.base == b.base &&
           a.scale == b.scale && a.offset == b.offset && a.has_offset_array == b.has_offset_array &&
           a.has_freqs == b.has_freqs;
  }

 private:
  Settings settings_;
};

}  // namespace

std::vector<float> inverse_frequencies(int half, float base) {
  std::vector<float> values(std::max(half, 0));
  const float step = std::log(base) / static_cast<float>(half);
  for (int i = 0; i < half; i++) {
    values[i] = static_cast<float>(std::exp(static_cast<double>(static_cast<float>(-i) * step)));
  }
  return values;
}

OptionalArray rms_norm(const array& x, const OptionalArray& weight, float eps, Stream stream) {
  if (x.ndim() < 1 || x.size() == 0 || !element_of(x.dtype())) return std::nullopt;
  if (weight && (weight->ndim() != 1 || weight->shape(0) != x.shape(-1) || !element_of(weight->dtype()))) {
    return std::nullopt;
  }
  std::vector<array> inputs = {x};
  Dtype dtype = x.dtype();
  if (weight) {
    inputs.push_back(*weight);
    dtype = mlx::core::promote_types(x.dtype(), weight->dtype());
  }
  if (!may_take_over(stream, inputs)) return std::nullopt;
  return array(x.shape(), dtype, std::make_shared<RMSNorm>(stream, eps), std::move(inputs));
}

OptionalArray swiglu(const array& gate, const array& up, Stream stream) {
  if (gate.shape() != up.shape() || gate.dtype() != up.dtype() || gate.ndim() < 1 || gate.size() == 0 ||
      !element_of(gate.dtype()) || !may_take_over(stream, {gate, up})) {
    return std::nullopt;
  }
  return array(gate.shape(), gate.dtype(), std::make_shared<SwiGLU>(stream), {gate, up});
}

OptionalArray rope(
    const array& x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
    const OptionalArray& offset_array, const OptionalArray& freqs, Stream stream) {
  if (x.ndim() < 3 || x.size() == 0 || !element_of(x.dtype()) || dims <= 0 || dims % 2 != 0 || dims > x.shape(-1)) {
    return std::nullopt;
  }
  if (base.has_value() == freqs.has_value()) return std::nullopt;
  if (freqs && (freqs->ndim() != 1 || freqs->shape(0) != dims / 2)) return std::nullopt;
  std::vector<array> inputs = {x};
  if (offset_array) {
    const bool fits = offset_array->ndim() <= 1 &&
                      (offset_array->size() == 1 || offset_array->size() == static_cast<size_t>(x.shape(0))) &&
                      mlx::core::issubdtype(offset_array->dtype(), mlx::core::integer);
    if (!fits) return std::nullopt;
    inputs.push_back(mlx::core::astype(*offset_array, mlx::core::int32, stream));
  }
  if (freqs) {
    inputs.push_back(mlx::core::astype(*freqs, mlx::core::float32, stream));
  }
  if (!may_take_over(stream, inputs)) return std::nullopt;
  const RoPE::Settings settings = {{dims, traditional},      base.value_or(0), scale, offset,
                                   offset_array.has_value(), freqs.has_value()};
  return array(x.shape(), x.dtype(), std::make_shared<RoPE>(stream, settings), std::move(inputs));
}

}  // namespace rmx::cpu
