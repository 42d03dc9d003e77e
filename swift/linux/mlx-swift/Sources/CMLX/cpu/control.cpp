// cmlx_cpu.h: names and switches of the CPU primitives for Swift.
#include "../include/cmlx_cpu.h"

#include "../guard.h"
#include "kernels.h"
#include "profile.h"
#include "threads.h"

const char* cmlx_cpu_variant(void) {
  return cmlx::guarded<const char*>("plain", [] { return rmx::cpu::kernels().name; });
}

bool cmlx_cpu_set_variant(const char* name) {
  return cmlx::run([&] { rmx::cpu::set_variant(name); });
}

const char* cmlx_cpu_available_variant(size_t index) {
  return cmlx::guarded<const char*>(nullptr, [&]() -> const char* {
    const auto variants = rmx::cpu::available_variants();
    return index < variants.size() ? rmx::cpu::variant_name(variants[index]) : nullptr;
  });
}

int cmlx_cpu_threads(void) {
  return cmlx::guarded(1, [] { return rmx::cpu::ThreadPool::shared().threads(); });
}

bool cmlx_cpu_set_threads(int count) {
  return cmlx::run([&] { rmx::cpu::ThreadPool::shared().resize(count == 0 ? rmx::cpu::usable_threads() : count); });
}

bool cmlx_cpu_is_fast(void) {
  return cmlx::guarded(false, [] { return rmx::cpu::arithmetic() == rmx::cpu::Arithmetic::fast; });
}

bool cmlx_cpu_set_fast(bool fast) {
  return cmlx::run([&] { rmx::cpu::set_arithmetic(fast ? rmx::cpu::Arithmetic::fast : rmx::cpu::Arithmetic::exact); });
}

void cmlx_cpu_profile_start(void) { rmx::cpu::start_profile(); }

void cmlx_cpu_profile_stop(void) { rmx::cpu::stop_profile(); }

bool cmlx_cpu_profile_stage(size_t index, cmlx_cpu_stage* stage) {
  if (index >= rmx::cpu::kStages) return false;
  const auto named = static_cast<rmx::cpu::Stage>(index);
  const rmx::cpu::StageTotals& sums = rmx::cpu::totals(named);
  *stage = {rmx::cpu::stage_name(named), sums.nanoseconds, sums.bytes, sums.calls};
  return true;
}

double cmlx_cpu_read_bandwidth(int64_t bytes, int rounds) {
  return cmlx::guarded(0.0, [&] { return rmx::cpu::read_bandwidth(bytes, rounds); });
}
