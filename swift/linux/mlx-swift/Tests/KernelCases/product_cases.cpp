// Products with weights: error against float64, and bits whatever the rows, threads and pieces.
#include <algorithm>

#include "kinds.h"
#include "products.h"

namespace rmx::cpu::cases {

namespace {

/// Row counts and widths: SmolLM2's, and ones that leave every kind of remainder.
struct Shape {
  int64_t rows, outputs, columns;
};

Shape choose(Random& random, int multiple, int64_t macs_max) {
  Shape shape = {};
  const int64_t wanted = random.pick({576, 1536, 192, 960, multiple * random.between(1, 20)});
  shape.columns = std::max<int64_t>(1, wanted / multiple) * multiple;
  shape.outputs = random.pick({1, 7, 64, 192, 576, 1536, 49152, random.between(1, 130), random.between(1, 130)});
  shape.rows = random.pick({1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 33, 64, 127, 200, 512, random.between(1, 512)});
  const int64_t row_macs = shape.outputs * shape.columns;
  if (row_macs > macs_max) shape.outputs = std::max<int64_t>(1, macs_max / shape.columns);
  shape.rows = std::clamp<int64_t>(macs_max / (shape.outputs * shape.columns), 1, shape.rows);
  return shape;
}

/// Elements of y against float64: the corners, and some from all over.
void check_errors(
    Case& item, const Kernels& kernel, const Operand& operand, Arithmetic mode, const std::vector<float>& x,
    const std::vector<float>& y, uint64_t seed, const std::string& text) {
  const int64_t outputs = operand.weight().rows, columns = operand.weight().columns;
  const auto count = static_cast<int64_t>(y.size());
  Random random(seed);
  for (int sample = 0; sample < 40; sample++) {
    int64_t at = static_cast<int64_t>(random.next() % static_cast<uint64_t>(count));
    if (sample == 0) at = 0;
    if (sample == 1) at = count - 1;
    const Bounded wanted = reference(kernel, operand, mode, x.data() + at / outputs * columns, at % outputs);
    item.report.expect_within(
        std::fabs(static_cast<double>(y[at]) - wanted.exact), wanted.allowed,
        text + ", element " + std::to_string(at / outputs) + ", " + std::to_string(at % outputs));
  }
}

/// The bits of `whole` again with other threads, pieces and rows beside each.
void check_bits(
    Case& item, const Kernels& kernel, const Operand& operand, Arithmetic mode, const std::vector<float>& x,
    const std::vector<float>& whole, uint64_t seed, const std::string& text) {
  const int64_t outputs = operand.weight().rows, rows = static_cast<int64_t>(whole.size()) / outputs;
  Random random(seed);
  auto again = [&](int64_t begin, int64_t end) {
    const int threads = random.between(1, 4), granule = random.pick({1, 3, 8, 16, 32});
    const Threads scope(threads);
    const std::vector<float> part = multiply(kernel, operand.weight(), mode, x.data(), begin, end, granule);
    item.report.expect(
        same_bits(part.data(), whole.data() + begin * outputs, (end - begin) * outputs),
        text + ": rows " + std::to_string(begin) + " to " + std::to_string(end) + " with " + std::to_string(threads) +
            " threads in pieces of " + std::to_string(granule) + " have other bits than in one call on one thread");
  };
  again(0, rows);
  const int64_t cut = random.between(0, static_cast<int>(rows));
  if (cut > 0) again(0, cut);
  if (cut < rows) again(cut, rows);
  for (int64_t single : {int64_t{0}, rows / 2, rows - 1}) again(single, single + 1);
}

void check_product(Case& item, const Operand& operand, int64_t rows) {
  const std::vector<float> x = activations(item.random, rows, operand.weight().columns);
  const uint64_t seed = item.random.next();
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      if (arithmetic_of(operand.weight(), mode) != mode) continue;
      const std::string text = variant + " " + name_of(mode);
      const Threads one(1);
      const std::vector<float> y = multiply(kernel, operand.weight(), mode, x.data(), 0, rows, 1);
      check_errors(item, kernel, operand, mode, x, y, seed, text);
      check_bits(item, kernel, operand, mode, x, y, seed, text);
    }
  });
}

std::string words(const Shape& shape, const std::string& stored) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + " by " + std::to_string(shape.outputs) +
         ", " + stored;
}

}  // namespace

void quantized_product(Case& item) {
  const Storage stored = choose_storage(item.random);
  const Shape shape = choose(item.random, stored.group, item.macs_max);
  const Operand operand(
      item.random, shape.outputs, shape.columns, stored.bits, stored.group, stored.scale, stored.format);
  item.report.describe(words(shape, stored.text()));
  check_product(item, operand, shape.rows);
}

void dense_product(Case& item) {
  const Element scale = item.random.pick({Element::f16, Element::bf16, Element::f32});
  const Shape shape = choose(item.random, 1, item.macs_max / 4);
  const Operand operand(item.random, shape.outputs, shape.columns, 0, 0, scale);
  item.report.describe(words(shape, name_of(scale)));
  check_product(item, operand, shape.rows);
}

}  // namespace rmx::cpu::cases
