// Token tables as MLX primitives.
#include "table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "profile.h"

namespace rmx::cpu {

namespace {

/// Products that one thread makes and looks through before it goes on: they stay in its first cache.
constexpr int64_t kChunk = 256;

struct Best {
  float value;
  uint32_t index;
};

float widened(Element element, const void* source, int64_t at) {
  float value;
  kernels().widen(element, static_cast<const char*>(source) + at * element_size(element), 1, &value);
  return value;
}

/// What a code of mxfp4 (E2M1) or mxfp8 (E4M3) stands for, without its scale.
double small_float(Format format, uint32_t code) {
  const int fraction = format == Format::mxfp4 ? 1 : 3, bias = format == Format::mxfp4 ? 1 : 7;
  const uint32_t sign = format == Format::mxfp4 ? 8 : 128, magnitude = code & (sign - 1);
  const uint32_t low = magnitude & ((1u << fraction) - 1);
  const int exponent = static_cast<int>(magnitude >> fraction);
  const double value = exponent == 0 ? std::ldexp(low, 1 - bias - fraction)
                                     : std::ldexp(low + (1u << fraction), exponent - bias - fraction);
  return code & sign ? -value : value;
}

void read_row(const Weight& weight, int64_t row, float* out) {
  if (weight.bits == 0) {
    const int64_t bytes = weight.columns * element_size(weight.scale);
    kernels().widen(weight.scale, static_cast<const char*>(weight.codes) + row * bytes, weight.columns, out);
    return;
  }
  const auto* codes = static_cast<const uint8_t*>(weight.codes) + row * weight.columns * weight.bits / 8;
  const int64_t groups = weight.columns / weight.group;
  const uint32_t mask = (1u << weight.bits) - 1;
  for (int64_t g = 0; g < groups; g++) {
    const double scale = widened(weight.scale, weight.scales, row * groups + g);
    const double bias = weight.biases ? widened(weight.scale, weight.biases, row * groups + g) : 0;
    for (int64_t k = g * weight.group; k < (g + 1) * weight.group; k++) {
      const int64_t bit = k * weight.bits;
      // A code of 3, 5 or 6 bits may go over into the next byte, of the same row.
      uint32_t word = codes[bit / 8];
      if (bit % 8 + weight.bits > 8) word |= uint32_t{codes[bit / 8 + 1]} << 8;
      const uint32_t code = word >> bit % 8 & mask;
      if (weight.format != Format::affine) {
        out[k] = static_cast<float>(scale * small_float(weight.format, code));
        continue;
      }
      // Exact in double precision but for the last addition, whose error vanishes when it is rounded to float32.
      out[k] = static_cast<float>(scale * code + bias);
    }
  }
}

/// The largest of `count` products; a NaN if there is one.
Best best_of(const float* y, int64_t count, int64_t first) {
  constexpr int kLanes = 16;
  float lane[kLanes];
  bool sound = true;
  std::fill_n(lane, kLanes, -std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; k++) {
      lane[k] = y[i + k] > lane[k] ? y[i + k] : lane[k];
      sound &= y[i + k] == y[i + k];
    }
  }
  for (; i < count; i++) {
    lane[0] = y[i] > lane[0] ? y[i] : lane[0];
    sound &= y[i] == y[i];
  }
  if (!sound) return {std::numeric_limits<float>::quiet_NaN(), static_cast<uint32_t>(first)};
  const float top = *std::max_element(lane, lane + kLanes);
  return {top, static_cast<uint32_t>(first + (std::find(y, y + count, top) - y))};
}

void find_best(const Weight& weight, const Rows& x, uint32_t* out) {
  Scratch scratch;
  const Activations rows = pack(weight, arithmetic(), x, scratch);
  const Timed timed(Stage::head);
  count_bytes(Stage::head, weight_bytes(weight));
  const int64_t chunks = (weight.rows + kChunk - 1) / kChunk;
  Best* found = scratch.take<Best>(chunks * rows.rows);
  ThreadPool::shared().run_rows(weight.rows, kChunk, [&](int64_t begin, int64_t end) {
    Scratch inner;
    float* y = inner.take<float>(rows.rows * kChunk);
    for (int64_t first = begin; first < end; first += kChunk) {
      const int64_t count = std::min(kChunk, end - first);
      kernels().product(rows_of(weight, first, count), arithmetic(), rows, 0, count, y, kChunk);
      for (int64_t row = 0; row < rows.rows; row++) {
        found[first / kChunk * rows.rows + row] = best_of(y + row * kChunk, count, first);
      }
    }
  });
  for (int64_t row = 0; row < rows.rows; row++) {
    Best best = found[row];
    for (int64_t chunk = 1; chunk < chunks; chunk++) {
      const Best& other = found[chunk * rows.rows + row];
      if (other.value > best.value || other.value != other.value) best = other;
    }
    out[2 * row] = best.index;
    std::memcpy(out + 2 * row + 1, &best.value, sizeof best.value);
  }
}

class TableRows : public Primitive {
 public:
  TableRows(Stream stream, std::shared_ptr<const Matrix> table) : Primitive(stream), table_(std::move(table)) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    const array& indices = inputs[0];
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [table = table_, at = indices.data<int32_t>(), step = indices.strides(0), count = int64_t{indices.shape(0)},
         target = out.data<float>()] {
          const Weight& weight = table->weight();
          const Timed timed(Stage::embedding);
          for (int64_t i = 0; i < count; i++) {
            const int32_t row = at[i * step];
            // Checked before; a wrong id must not read foreign memory even so.
            if (row < 0 || row >= weight.rows) {
              std::fill_n(target + i * weight.columns, weight.columns, std::numeric_limits<float>::quiet_NaN());
            } else {
              read_row(weight, row, target + i * weight.columns);
            }
          }
        });
  }

  const char* name() const override { return "CPUTableRows"; }

 private:
  std::shared_ptr<const Matrix> table_;
};

class TableBest : public Primitive {
 public:
  TableBest(Stream stream, std::shared_ptr<const Matrix> table) : Primitive(stream), table_(std::move(table)) {}

  void eval_cpu(const std::vector<array>& inputs, array& out) override {
    out.set_data(mlx::core::allocator::malloc(out.nbytes()));
    mlx::core::cpu::get_command_encoder(stream()).dispatch(
        [table = table_, x = Rows(inputs[0]), target = out.data<uint32_t>()] {
          find_best(table->weight(), x, target);
        });
  }

  const char* name() const override { return "CPUTableBest"; }

 private:
  std::shared_ptr<const Matrix> table_;
};

}  // namespace

array table_rows(std::shared_ptr<const Matrix> table, const array& indices, Stream stream) {
  if (indices.ndim() != 1 || indices.dtype() != mlx::core::int32 || indices.size() == 0) {
    throw std::invalid_argument("Cannot take rows of a table: wanted int32 indices [R]");
  }
  const int columns = static_cast<int>(table->weight().columns);
  return array(
      {indices.shape(0), columns}, mlx::core::float32, std::make_shared<TableRows>(stream, std::move(table)),
      {indices});
}

array table_best(std::shared_ptr<const Matrix> table, const array& x, Stream stream) {
  if (x.ndim() != 2 || x.shape(1) != table->weight().columns || !element_of(x.dtype()) || x.size() == 0) {
    throw std::invalid_argument(
        "Cannot find the best rows of a table of width " + std::to_string(table->weight().columns) +
        ": wanted float rows [R, width]");
  }
  return array({x.shape(0), 2}, mlx::core::uint32, std::make_shared<TableBest>(stream, std::move(table)), {x});
}

}  // namespace rmx::cpu
