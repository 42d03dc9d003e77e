// Products as MLX ops, with one matrix, with experts and with the token table: the bits of the table of kernels, and
// MLX's own op within both bounds.
#include <algorithm>

#include "kinds.h"
#include "mlx_arrays.h"
#include "ops.h"
#include "table.h"

namespace rmx::cpu::cases {

namespace {

void expect_bits(
    Case& item, const std::vector<float>& found, const std::vector<float>& wanted, const std::string& what) {
  const bool as_many = found.size() == wanted.size();
  item.report.expect(as_many && same_bits(found.data(), wanted.data(), static_cast<int64_t>(wanted.size())), what);
}

/// Of the op, as MLX has it: the wider of rows and scales, or that of the rows where scales are exponents.
Element result_of(Element rows, const Storage& stored) {
  if (stored.format != Format::affine) return rows;
  return rows == stored.scale ? rows : Element::f32;
}

/// Beside MLX's op, which sums one after the other.
void expect_near(
    Case& item, const Kernels& kernel, const Operand& operand, Arithmetic mode, const float* row, int64_t n, float found,
    float library, const std::string& text) {
  const int64_t columns = operand.weight().columns;
  const Bounded wanted = reference(kernel, operand, mode, row, n);
  double own = 0;
  for (int64_t k = 0; k < columns; k++) own += operand.reach(n, k) * std::fabs(static_cast<double>(row[k]));
  const double allowed = wanted.allowed + roundings(2 * static_cast<double>(columns) + 8) * own;
  item.report.expect_within(std::fabs(static_cast<double>(found) - library), allowed, text + ": beside MLX's op");
}

}  // namespace

void product_op(Case& item) {
  const Storage stored = choose_storage(item.random);
  const Element element = item.random.pick({Element::f32, Element::f32, Element::f16, Element::bf16});
  const int rows = item.random.between(1, 40), outputs = item.random.between(1, 200);
  const int columns = stored.group * item.random.between(1, 12);
  item.report.describe(
      std::to_string(rows) + "x" + std::to_string(columns) + " " + name_of(element) + " by " + std::to_string(outputs) +
      ", " + stored.text());
  const Operand operand(item.random, outputs, columns, stored.bits, stored.group, stored.scale, stored.format);
  const WeightArrays weight(operand), wide = weight.wide();
  const Stored x(element, item.random.normals(rows * columns));
  const mx::array rows_array = to_array(x.values(), {rows, columns}, element);
  const std::vector<float> library = to_floats(mx::quantized_matmul(
      to_array(x.values(), {rows, columns}), wide.codes, wide.scales, wide.biases, true, stored.group, stored.bits,
      stored.mode(), cpu_stream()));
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      const UseArithmetic use(mode);
      const Threads scope(item.random.between(1, 4));
      const auto y = quantized_matmul(
          rows_array, weight.codes, weight.scales, weight.biases, true, stored.group, stored.bits, stored.mode(),
          cpu_stream());
      const std::string text = variant + " " + name_of(mode);
      item.report.expect(y.has_value(), text + ": the op was not taken");
      if (!y) continue;
      const std::vector<float> table = multiply(kernel, operand.weight(), mode, x.values().data(), 0, rows, 8);
      const Stored rounded(result_of(element, stored), table);
      expect_bits(item, to_floats(*y), rounded.values(), text + ": other bits than the kernel alone");
      for (int sample = 0; sample < 20; sample++) {
        const int64_t at = item.random.between(0, rows * outputs - 1);
        const float* row = x.values().data() + at / outputs * columns;
        expect_near(item, kernel, operand, mode, row, at % outputs, table[at], library[at], text);
      }
    }
  });
}

void gathered_op(Case& item) {
  const Storage stored = choose_storage(item.random);
  const Element element = item.random.pick({Element::f32, Element::f32, Element::f16, Element::bf16});
  const int experts = item.random.between(1, 9), outputs = item.random.between(1, 70);
  const int columns = stored.group * item.random.between(1, 6);
  const int batches = item.random.pick({1, 2, 5, item.random.between(1, 60)}), height = item.random.pick({1, 1, 1, 3});
  const int each = item.random.between(1, 4);
  item.report.describe(
      std::to_string(batches) + " times " + std::to_string(height) + "x" + std::to_string(columns) + " " +
      name_of(element) + " by " + std::to_string(each) + " of " + std::to_string(experts) + " experts of " +
      std::to_string(outputs) + ", " + stored.text());
  const Operand operand(
      item.random, experts * outputs, columns, stored.bits, stored.group, stored.scale, stored.format);
  const WeightArrays weight(operand, experts), wide = weight.wide();
  const Stored x(element, item.random.normals(batches * height * columns));
  // As a mixture of experts has it: [tokens, 1, M, K] beside indices [tokens, each].
  const mx::Shape shape = {batches, 1, height, columns};
  std::vector<uint32_t> chosen(batches * each);
  for (uint32_t& expert : chosen) expert = static_cast<uint32_t>(item.random.between(0, experts - 1));
  const mx::array indices(chosen.data(), {batches, each}, mx::uint32);
  const std::vector<float> library = to_floats(mx::gather_qmm(
      to_array(x.values(), shape), wide.codes, wide.scales, wide.biases, {}, indices, true, stored.group, stored.bits,
      stored.mode(), false, cpu_stream()));
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      const UseArithmetic use(mode);
      const Threads scope(item.random.between(1, 4));
      const std::string text = variant + " " + name_of(mode);
      const auto y = gather_qmm(
          to_array(x.values(), shape, element), weight.codes, weight.scales, weight.biases, {}, indices, true,
          stored.group, stored.bits, stored.mode(), cpu_stream());
      item.report.expect(y.has_value(), text + ": the op was not taken");
      if (!y) continue;
      // Each row alone, with its expert alone.
      std::vector<float> wanted;
      for (int pair = 0; pair < batches * each; pair++) {
        const Weight expert = rows_of(operand.weight(), int64_t{chosen[pair]} * outputs, outputs);
        for (int m = 0; m < height; m++) {
          const int64_t row = pair / each * height + m;
          const std::vector<float> alone = multiply(kernel, expert, mode, x.values().data(), row, row + 1, 8);
          wanted.insert(wanted.end(), alone.begin(), alone.end());
        }
      }
      const Stored rounded(result_of(element, stored), wanted);
      expect_bits(item, to_floats(*y), rounded.values(), text + ": other bits than each row with its expert alone");
      for (int sample = 0; sample < 20; sample++) {
        const int64_t at = item.random.between(0, static_cast<int>(wanted.size()) - 1);
        const int64_t row = at / outputs, pair = row / height, n = chosen[pair] * outputs + at % outputs;
        const float* values = x.values().data() + (pair / each * height + row % height) * columns;
        expect_near(item, kernel, operand, mode, values, n, wanted[at], library[at], text);
      }
    }
  });
}

void table_op(Case& item) {
  const Storage stored = choose_storage(item.random);
  const int rows = item.random.between(1, 9), outputs = item.random.between(1, 700);
  const int columns = stored.group * item.random.between(1, 8);
  item.report.describe(
      std::to_string(rows) + " of " + std::to_string(outputs) + " rows of " + std::to_string(columns) + ", " +
      stored.text());
  const Operand operand(item.random, outputs, columns, stored.bits, stored.group, stored.scale, stored.format);
  const WeightArrays weight(operand);
  const auto table = std::make_shared<const Matrix>(Matrix::quantized(
      "table", weight.codes, weight.scales, weight.biases, stored.group, stored.bits, stored.mode()));
  std::vector<int32_t> wanted(rows);
  for (int32_t& row : wanted) row = item.random.between(0, outputs - 1);
  const std::vector<float> found =
      to_floats(table_rows(table, mx::array(wanted.data(), {rows}, mx::int32), cpu_stream()));
  for (int64_t i = 0; i < static_cast<int64_t>(found.size()); i++) {
    const auto exact = static_cast<float>(operand.value(wanted[i / columns], i % columns));
    item.report.expect(same_bits(&exact, &found[i], 1), "element " + std::to_string(i) + " is not the nearest float32");
  }
  const std::vector<float> x = activations(item.random, rows, columns);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    for (Arithmetic mode : {Arithmetic::exact, Arithmetic::fast}) {
      const UseArithmetic use(mode);
      const Threads scope(item.random.between(1, 4));
      mx::array best = table_best(table, to_array(x, {rows, columns}), cpu_stream());
      best.eval();
      const std::vector<float> y = multiply(kernel, operand.weight(), mode, x.data(), 0, rows, 8);
      for (int row = 0; row < rows; row++) {
        const auto top = std::max_element(y.begin() + row * outputs, y.begin() + (row + 1) * outputs);
        const auto index = static_cast<uint32_t>(top - y.begin() - row * outputs);
        item.report.expect(
            best.data<uint32_t>()[2 * row] == index && std::memcmp(best.data<uint32_t>() + 2 * row + 1, &*top, 4) == 0,
            variant + " " + name_of(mode) + ": another best of row " + std::to_string(row));
      }
    }
  });
}

}  // namespace rmx::cpu::cases
