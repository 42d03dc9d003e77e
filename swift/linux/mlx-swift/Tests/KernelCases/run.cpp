// Chooses the kind of each case by its number and the seed, and runs it.
#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "include/kernel_cases.h"
#include "kinds.h"

namespace rmx::cpu::cases {

namespace {

struct Kind {
  const char* name;
  int share;
  void (*run)(Case&);
};

// Shares of a hundred cases, about.
constexpr Kind kKinds[] = {
    {"quantized product", 34, quantized_product},
    {"dense product", 8, dense_product},
    {"rms norm", 6, norm},
    {"swiglu", 5, swiglu},
    {"rotary embedding", 6, rotation},
    {"conversion", 4, conversion},
    {"attention", 14, attention},
    {"pool", 3, pool},
    {"row of logits", 5, logits},
#ifndef KERNEL_CASES_WITHOUT_MLX
    {"op: quantized product", 6, product_op},
    {"op: gathered experts", 4, gathered_op},
    {"op: token table", 3, table_op},
    {"op: norm, rope, swiglu", 4, row_op},
    {"op: attention", 6, attention_op},
    {"block: feed-forward", 6, feed_forward_block},
    {"block: attention", 8, attention_block},
#endif
};

const Kind& kind_of(Random& random) {
  int shares = 0;
  for (const Kind& kind : kKinds) shares += kind.share;
  int at = random.between(0, shares - 1);
  for (const Kind& kind : kKinds) {
    if (at < kind.share) return kind;
    at -= kind.share;
  }
  return kKinds[0];
}

void run_case(Report& report, const kernel_cases_plan& plan, int number) {
  const int64_t macs = int64_t{plan.megamacs > 0 ? plan.megamacs : 40} * 1000000;
  Case item = {report, Random(plan.seed * 1000003 + static_cast<uint64_t>(number)), macs};
  const Kind& kind = kind_of(item.random);
  report.begin(kind.name, plan.seed, number);
  try {
    kind.run(item);
  } catch (const std::exception& error) {
    report.expect(false, std::string("threw ") + error.what());
  }
}

}  // namespace

}  // namespace rmx::cpu::cases

int64_t kernel_cases_run(
    const kernel_cases_plan* plan, kernel_cases_failure failure, void* context, char* summary, int32_t summary_size) {
  using namespace rmx::cpu::cases;
  Report report([&](const std::string& text) { failure(context, text.c_str()); });
  for (int number = plan->first; number < plan->first + plan->count; number++) run_case(report, *plan, number);
  if (summary_size > 0) {
    const std::string text = report.summary();
    const size_t size = std::min(text.size(), static_cast<size_t>(summary_size) - 1);
    std::memcpy(summary, text.data(), size);
    summary[size] = 0;
  }
  return report.checks();
}
