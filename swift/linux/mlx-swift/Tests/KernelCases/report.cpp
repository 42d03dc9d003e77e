// Reports and the process-wide switches of a case.
#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "threads.h"

namespace rmx::cpu::cases {

void Report::begin(const std::string& kind, uint64_t seed, int number) {
  kind_ = kind;
  sums_[kind].cases++;
  place_ = "case " + std::to_string(number) + " of seed " + std::to_string(seed);
  operands_.clear();
}

void Report::expect(bool holds, const std::string& what) {
  checks_++;
  if (!holds) sink_(place_ + ", " + kind_ + " (" + operands_ + "): " + what);
}

void Report::expect_within(double error, double bound, const std::string& what) {
  const bool holds = error <= bound;
  if (bound > 0 && holds) sums_[kind_].closest = std::max(sums_[kind_].closest, error / bound);
  char numbers[96];
  if (!holds) std::snprintf(numbers, sizeof numbers, ": error %.4g, bound %.4g", error, bound);
  expect(holds, holds ? what : what + numbers);
}

std::string Report::summary() const {
  std::string text;
  for (const auto& [kind, sum] : sums_) {
    char line[160];
    std::snprintf(
        line, sizeof line, "%-24s %5d cases, largest error %.3f of its bound\n", kind.c_str(), sum.cases, sum.closest);
    text += line;
  }
  return text;
}

void with_every_variant(const std::function<void(const Kernels&, const std::string&)>& body) {
  const std::string before = kernels().name;
  for (Variant variant : available_variants()) {
    set_variant(variant_name(variant));
    body(kernels(), variant_name(variant));
  }
  set_variant(before);
}

Threads::Threads(int count) : before_(ThreadPool::shared().threads()) { ThreadPool::shared().resize(count); }

Threads::~Threads() { ThreadPool::shared().resize(before_); }

const char* name_of(Arithmetic mode) { return mode == Arithmetic::fast ? "fast" : "exact"; }

const char* name_of(Element element) {
  return element == Element::f32 ? "float32" : element == Element::f16 ? "float16" : element == Element::bf16 ? "bfloat16" : "e8m0";
}

}  // namespace rmx::cpu::cases
