// Rows of logits: searches against slow, obvious ones, sums of exponentials against libm, one result in all variants.
#include <algorithm>
#include <numeric>

#include "elements.h"
#include "kinds.h"
#include "sampling.h"

namespace rmx::cpu::cases {

namespace {

/// With ties, tokens that a mask forbids, and rows of one value.
std::vector<float> row_of(Random& random, int count) {
  const float spread = random.pick({0.0f, 0.1f, 3.0f, 3.0f, 20.0f});
  const int forbidden = random.pick({0, 0, 3, 97});
  const bool whole = random.chance(50);
  std::vector<float> row(count);
  for (float& value : row) {
    value = random.normal() * spread;
    if (whole) value = std::round(value);
    if (random.chance(forbidden)) value = -std::numeric_limits<float>::infinity();
  }
  row[random.between(0, count - 1)] = spread;
  return row;
}

}  // namespace

void logits(Case& item) {
  const int count = item.random.pick({1, 15, 16, 17, 1000, 49152, item.random.between(1, 3000)});
  const std::vector<float> row = row_of(item.random, count);
  const double temperature = item.random.pick({1.0, 0.7, 0.01, 2.0, 1.0 / 3});
  const int wanted = std::min(count, item.random.pick({1, 20, 64, count, item.random.between(1, count)}));
  item.report.describe(std::to_string(count) + " logits, temperature " + std::to_string(temperature));
  const Exact x(int64_t{count} * 4, 4);
  std::copy(row.begin(), row.end(), x.data<float>());
  std::vector<int32_t> order(count), expected;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
  const double best = row[order[0]] / temperature, floor = best - item.random.pick({0.0, 0.5, 3.0, 1e9});
  for (int i = 0; i < count; i++) {
    if (row[i] / temperature >= floor) expected.push_back(i);
  }
  double sum = 0;
  for (float value : row) sum += std::exp(value / temperature - best);
  double first = 0;
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    const float* values = x.data<float>();
    item.report.expect(best_index(values, count) == order[0], variant + ": another best");
    std::vector<int32_t> top(wanted), from(count);
    item.report.expect(
        top_indices(values, count, wanted, top.data()) == wanted && std::equal(top.begin(), top.end(), order.begin()),
        variant + ": other best " + std::to_string(wanted));
    from.resize(indices_from(values, count, temperature, floor, from.data()));
    item.report.expect(from == expected, variant + ": others are above the floor");
    const double mass = kernel.mass(values, count, temperature, best);
    item.report.expect_within(std::fabs(mass - sum), (count + 8) * 0x1p-53 * sum, variant + ": sum of exponentials");
    if (first == 0) first = mass;
    item.report.expect(mass == first, variant + ": another sum than the first variant's");
  });
  const Exact spoiled(int64_t{count} * 4);
  std::copy(row.begin(), row.end(), spoiled.data<float>());
  spoiled.data<float>()[item.random.between(0, count - 1)] = std::numeric_limits<float>::quiet_NaN();
  with_every_variant([&](const Kernels&, const std::string& variant) {
    item.report.expect(best_index(spoiled.data<float>(), count) == -1, variant + ": a NaN has a best");
  });
}

}  // namespace rmx::cpu::cases
