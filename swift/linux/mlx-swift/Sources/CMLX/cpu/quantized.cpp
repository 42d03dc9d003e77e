// Quantized matrix products as MLX primitives: with one matrix, and with those of experts that indices name.
#include "ops.h"
#include "primitive.h"
#include "profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rmx::cpu {

namespace {

/// How a weight is stored.
struct Stored {
  int group, bits;
  Format format;
  bool operator==(const Stored&) const = default;
};

/// Inputs 1, 2 and (affine) 3 as one weight, with the rows of all experts below each other.
Weight weight_of(const std::vector<array>& inputs, const Stored& stored) {
  const bool affine = stored.format == Format::affine;
  for (int i = 1; i < (affine ? 4 : 3); i++) {
    if (!inputs[i].flags().row_contiguous) {
      throw std::invalid_argument("Cannot multiply with quantized weights that are not row-contiguous in memory");
    }
  }
  const array &codes = inputs[1], &scales = inputs[2];
  return {
      codes.data<void>(),
      scales.data<void>(),
      affine ? inputs[3].data<void>() : nullptr,
      affine ? *element_of(scales.dtype()) : Element::e8m0,
      stored.bits,
      stored.group,
      static_cast<int64_t>(codes.size()) / codes.shape(-1),
      int64_t{scales.shape(-1)} * stored.group,
      stored.format};
}

/// out [..., N] = x [..., K] x dequantized(w [N, K])^T.
class QuantizedMatmul : public Primitive {
 public:
  QuantizedMatmul(Stream stream, Stored stored, Arithmetic arithmetic)
      : Primitive(stream), stored_(stored), arithmetic_(arithmetic) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [weight = weight_of(inputs, stored_), rows = Rows(inputs[0]), target = out.data<void>(),
         element = *element_of(out.dtype()), arithmetic = arithmetic_] {
          Scratch scratch;
          const Activations packed = pack(weight, arithmetic, rows, scratch);
          const int64_t size = rows.count() * weight.rows;
          float* y = element == Element::f32 ? static_cast<float*>(target) : scratch.take<float>(size);
          multiply(weight, arithmetic, packed, y, weight.rows);
          if (element != Element::f32) narrow(y, element, target, size);
        });
  }

  const char* name() const override { return "CPUQuantizedMatmul"; }

  bool is_equivalent(const mlx::core::Primitive& other) const override {
    const auto& same = static_cast<const QuantizedMatmul&>(other);
    return stored_ == same.stored_ && arithmetic_ == same.arithmetic_;
  }

 private:
  Stored stored_;
  Arithmetic arithmetic_;
};

/// A row of the result: which row of x, which expert, and where it goes.
struct Routed {
  uint32_t expert;
  int64_t from, to;
};

/// What one gathered product works on.
struct Gathered {
  /// Experts below each other, `outputs` rows each.
  Weight weight;
  int64_t outputs;
  Arithmetic arithmetic;
  Rows rows;
  void* target;
  Element element;

  void write(int64_t row, const float* y) const {
    char* to = static_cast<char*>(target) + row * outputs * element_size(element);
    if (element == Element::f32) {
      std::copy_n(y, outputs, reinterpret_cast<float*>(to));
    } else {
      kernels().narrow(element, y, outputs, reinterpret_cast<uint16_t*>(to));
    }
  }
};

/// Rows that are packed and multiplied at a time; bounds the scratch memory of a long prompt.
constexpr int64_t kSlice = 1024;
constexpr int64_t kGranule = 8;

/// `count` rows, those of an expert adjacent: an expert's weights are read once for all of its rows.
void multiply_slice(const Gathered& job, const Routed* routed, int64_t count) {
  Scratch scratch;
  std::vector<int64_t> from(count), runs;
  for (int64_t i = 0; i < count; i++) {
    from[i] = routed[i].from;
    if (i == 0 || routed[i].expert != routed[i - 1].expert) runs.push_back(i);
  }
  const auto experts = static_cast<int64_t>(runs.size());
  runs.push_back(count);
  const PackedSize size = kernels().packed_size(job.weight, job.arithmetic);
  const int64_t value_bytes = arithmetic_of(job.weight, job.arithmetic) == Arithmetic::fast ? 1 : 4;
  const Activations packed = pack(job.weight, job.arithmetic, job.rows, scratch, from.data(), count);
  float* y = scratch.take<float>(count * job.outputs);
  const Timed timed(Stage::other);
  const int64_t padded = (job.outputs + kGranule - 1) / kGranule * kGranule;
  ThreadPool::shared().run_rows(experts * padded, kGranule, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin / padded; e < experts && e * padded < end; e++) {
      const int64_t first = std::max(begin - e * padded, int64_t{0}), last = std::min(end - e * padded, job.outputs);
      if (first >= last) continue;
      const int64_t row = runs[e];
      const Activations some = {
          runs[e + 1] - row, static_cast<const char*>(packed.values) + row * size.values * value_bytes,
          packed.scales + row * size.scales, packed.sums + row * size.sums};
      const Weight weight = rows_of(job.weight, routed[row].expert * job.outputs, job.outputs);
      kernels().product(weight, job.arithmetic, some, first, last, y + row * job.outputs, job.outputs);
    }
  });
  count_bytes(Stage::other, experts * weight_bytes(rows_of(job.weight, 0, job.outputs)));
  ThreadPool::shared().run_rows(count, kGranule, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) job.write(routed[i].to, y + i * job.outputs);
  });
}

void multiply_gathered(const Gathered& job, const uint32_t* lhs, const uint32_t* rhs, int64_t pairs, int64_t height) {
  const int64_t experts = job.weight.rows / job.outputs;
  std::vector<Routed> routed;
  routed.reserve(pairs * height);
  const std::vector<float> nothing(job.outputs, std::numeric_limits<float>::quiet_NaN());
  for (int64_t p = 0; p < pairs; p++) {
    for (int64_t m = 0; m < height; m++) {
      const int64_t from = lhs[p] * height + m, to = p * height + m;
      // A wrong index must not read foreign memory.
      if (rhs[p] >= experts || from >= job.rows.count()) {
        job.write(to, nothing.data());
      } else {
        routed.push_back({rhs[p], from, to});
      }
    }
  }
  std::stable_sort(routed.begin(), routed.end(), [](const Routed& a, const Routed& b) { return a.expert < b.expert; });
  const auto count = static_cast<int64_t>(routed.size());
  for (int64_t first = 0; first < count; first += kSlice) {
    multiply_slice(job, routed.data() + first, std::min(kSlice, count - first));
  }
}

/// out [P..., M, N] = x [lhs[p], M, K] x dequantized(w [rhs[p], N, K])^T. The last two inputs are lhs and rhs.
class GatherQuantizedMatmul : public Primitive {
 public:
  GatherQuantizedMatmul(Stream stream, Stored stored, Arithmetic arithmetic)
      : Primitive(stream), stored_(stored), arithmetic_(arithmetic) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    const array &lhs = inputs[inputs.size() - 2], &rhs = inputs[inputs.size() - 1];
    const Gathered job = {
        weight_of(inputs, stored_), inputs[1].shape(-2),  arithmetic_,
        Rows(inputs[0]),            out.data<void>(), *element_of(out.dtype())};
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [job, left = lhs.data<uint32_t>(), right = rhs.data<uint32_t>(), pairs = static_cast<int64_t>(lhs.size()),
         height = int64_t{inputs[0].shape(-2)}] { multiply_gathered(job, left, right, pairs, height); });
  }

  const char* name() const override { return "CPUGatherQuantizedMatmul"; }

 private:
  Stored stored_;
  Arithmetic arithmetic_;
};

/// None for a mode, bits or group that no kernel takes.
std::optional<Stored> stored_as(const std::string& mode, std::optional<int> group_size, std::optional<int> bits) {
  const auto format = format_of(mode);
  if (!format) return std::nullopt;
  // Absent: the defaults of the mode.
  const Stored stored = {
      group_size.value_or(*format == Format::affine ? 64 : 32), bits.value_or(*format == Format::mxfp8 ? 8 : 4),
      *format};
  if (!takes(stored.format, stored.group, stored.bits)) return std::nullopt;
  return stored;
}

/// Whether x [..., K], w [..., N, words], scales and biases [..., N, groups] fit together and are of types we take.
bool fits(const array& x, const array& w, const array& scales, const OptionalArray& biases, const Stored& stored) {
  const bool affine = stored.format == Format::affine;
  if (affine != biases.has_value() || w.ndim() < 2 || scales.ndim() != w.ndim() || w.dtype() != mlx::core::uint32 ||
      x.ndim() < 1 || x.size() == 0 || w.size() == 0 || !element_of(x.dtype())) {
    return false;
  }
  const Shape words = w.shape(), groups = scales.shape();
  const int columns = groups.back() * stored.group;
  const bool shapes = std::equal(words.begin(), words.end() - 1, groups.begin()) && x.shape(-1) == columns &&
                      int64_t{words.back()} * 32 == int64_t{columns} * stored.bits;
  if (!shapes) return false;
  if (!affine) return scales.dtype() == mlx::core::uint8;
  return biases->shape() == groups && element_of(scales.dtype()) && biases->dtype() == scales.dtype();
}

mlx::core::Dtype result_type(const array& x, const array& scales, const Stored& stored) {
  return stored.format == Format::affine ? mlx::core::promote_types(x.dtype(), scales.dtype()) : x.dtype();
}

}  // namespace

OptionalArray quantized_matmul(
    const array& x, const array& w, const array& scales, const OptionalArray& biases, bool transpose,
    std::optional<int> group_size, std::optional<int> bits, const std::string& mode, Stream stream) {
  const auto stored = stored_as(mode, group_size, bits);
  if (!transpose || !stored || w.ndim() != 2 || !fits(x, w, scales, biases, *stored)) return std::nullopt;
  std::vector<array> inputs = {x, w, scales};
  if (biases) inputs.push_back(*biases);
  if (!may_take_over(stream, inputs)) return std::nullopt;
  Shape shape = x.shape();
  shape.back() = w.shape(0);
  return array(
      std::move(shape), result_type(x, scales, *stored),
      std::make_shared<QuantizedMatmul>(stream, *stored, arithmetic()), std::move(inputs));
}

OptionalArray gather_qmm(
    const array& x, const array& w, const array& scales, const OptionalArray& biases, const OptionalArray& lhs_indices,
    const OptionalArray& rhs_indices, bool transpose, std::optional<int> group_size, std::optional<int> bits,
    const std::string& mode, Stream stream) {
  namespace mx = mlx::core;
  const auto stored = stored_as(mode, group_size, bits);
  if (!transpose || !stored || !rhs_indices || x.ndim() < 2 || w.ndim() != 3) return std::nullopt;
  if (!fits(x, w, scales, biases, *stored) || rhs_indices->size() == 0) return std::nullopt;
  std::vector<array> inputs = {x, w, scales};
  if (biases) inputs.push_back(*biases);
  const int batches = static_cast<int>(x.size() / (int64_t{x.shape(-1)} * x.shape(-2)));
  const Shape leading(x.shape().begin(), x.shape().end() - 2);
  const array all = lhs_indices ? *lhs_indices : mx::reshape(mx::arange(0, batches, mx::uint32, stream), leading, stream);
  if (!may_take_over(stream, inputs) || all.is_tracer() || rhs_indices->is_tracer()) return std::nullopt;
  for (const array& indices : {all, *rhs_indices}) {
    if (!mx::issubdtype(indices.dtype(), mx::integer)) return std::nullopt;
  }
  const auto pairs = mx::broadcast_arrays({all, *rhs_indices}, stream);
  for (const array& indices : pairs) {
    inputs.push_back(mx::contiguous(mx::astype(indices, mx::uint32, stream), false, stream));
  }
  Shape shape = pairs[0].shape();
  shape.push_back(x.shape(-2));
  shape.push_back(w.shape(1));
  return array(
      std::move(shape), result_type(x, scales, *stored),
      std::make_shared<GatherQuantizedMatmul>(stream, *stored, arithmetic()), std::move(inputs));
}

}  // namespace rmx::cpu
