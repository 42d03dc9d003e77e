// cmlx_cpu.h: names and switches of the CPU primitives for Swift.
#include "../include/cmlx_cpu.h"

#include "../guard.h"
#include "kernels.h"
#include "threads.h"

const char *cmlx_cpu_variant(void) {
  return cmlx::guarded<const char *>("plain", [] { return rmx::cpu::kernels().name; });
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
