// Runs random cases from a command line: kernel-cases SEED COUNT [FIRST [MEGAMACS]]. Exit code 1 if a check failed.
#include <cstdio>
#include <cstdlib>

#include "include/kernel_cases.h"
#include "kernels.h"

int main(int argc, char** argv) {
  auto number = [&](int index, long long missing) { return argc > index ? std::atoll(argv[index]) : missing; };
  const kernel_cases_plan plan = {
      static_cast<uint64_t>(number(1, 1)), static_cast<int32_t>(number(3, 0)), static_cast<int32_t>(number(2, 100)),
      static_cast<int32_t>(number(4, 0))};
  std::printf("seed %llu, cases %d to %d, variants", static_cast<unsigned long long>(plan.seed), plan.first,
      plan.first + plan.count - 1);
  for (auto variant : rmx::cpu::available_variants()) std::printf(" %s", rmx::cpu::variant_name(variant));
  std::printf("\n");
  int failures = 0;
  char summary[4096];
  const int64_t checks = kernel_cases_run(
      &plan,
      [](void* context, const char* text) {
        int& count = *static_cast<int*>(context);
        if (++count <= 50) std::printf("FAILED %s\n", text);
      },
      &failures, summary, sizeof summary);
  std::printf("%s%lld checks, %d failed\n", summary, static_cast<long long>(checks), failures);
  return failures == 0 ? 0 : 1;
}
