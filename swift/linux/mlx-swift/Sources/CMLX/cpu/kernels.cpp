// Chooses the kernel variant for this machine.
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace rmx::cpu {

namespace avx512 {
const Kernels& table();
}
namespace avx2 {
const Kernels& table();
}
namespace neon {
const Kernels& table();
}
namespace plain {
const Kernels& table();
}

namespace {

std::atomic<const Kernels*> current{nullptr};
std::atomic<Arithmetic> current_arithmetic{Arithmetic::exact};

const Kernels& table_of(Variant variant) {
  switch (variant) {
#if defined(__x86_64__)
    case Variant::avx512: return avx512::table();
    case Variant::avx2: return avx2::table();
#elif defined(__aarch64__)
    case Variant::neon: return neon::table();
#endif
    default: return plain::table();
  }
}

#if defined(__x86_64__)
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

const Kernels& find(const std::string& name) {
  std::string known;
  for (Variant variant : available_variants()) {
    if (name == variant_name(variant)) return table_of(variant);
    known += (known.empty() ? "" : ", ") + std::string(variant_name(variant));
  }
  throw std::invalid_argument("Cannot use the CPU kernels \"" + name + "\": this machine runs " + known);
}

}  // namespace

const char* variant_name(Variant variant) {
  switch (variant) {
    case Variant::avx512: return "avx512";
    case Variant::avx2: return "avx2";
    case Variant::neon: return "neon";
    case Variant::plain: break;
  }
  return "plain";
}

std::vector<Variant> available_variants() {
  std::vector<Variant> variants;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi")) {
    variants.push_back(Variant::avx512);
  }
  if (avx2) variants.push_back(Variant::avx2);
#elif defined(__aarch64__)
  variants.push_back(Variant::neon);
#endif
  variants.push_back(Variant::plain);
  return variants;
}

const Kernels& kernels() {
  const Kernels* known = current.load(std::memory_order_acquire);
  if (known) return *known;
  const char* wanted = std::getenv("RMX_CPU_VARIANT");
  const Kernels& chosen = wanted ? find(wanted) : table_of(available_variants().front());
  current.store(&chosen, std::memory_order_release);
  return chosen;
}

void set_variant(const std::string& name) { current.store(&find(name), std::memory_order_release); }

Arithmetic arithmetic() { return current_arithmetic.load(std::memory_order_relaxed); }

void set_arithmetic(Arithmetic arithmetic) { current_arithmetic.store(arithmetic, std::memory_order_relaxed); }

}  // namespace rmx::cpu
