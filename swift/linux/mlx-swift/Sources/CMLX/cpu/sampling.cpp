// Rows of logits for the sampler: searches and sums on one thread, which a row of a hundred thousand does not outlast
// by waking another.
#include "sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../include/cmlx_cpu.h"
#include "kernels.h"

namespace rmx::cpu {

int64_t best_index(const float* x, int64_t count) {
  const float top = kernels().maximum_of(x, count);
  if (!std::isfinite(top)) return -1;
  return kernels().find_above(x, 0, count, std::nextafter(top, -std::numeric_limits<float>::infinity()));
}

int64_t top_indices(const float* x, int64_t count, int64_t wanted, int32_t* out) {
  if (wanted <= 0 || count <= 0) return 0;
  const auto before = [x](int32_t a, int32_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); };
  const int64_t kept = std::min(wanted, count);
  for (int64_t i = 0; i < kept; i++) out[i] = static_cast<int32_t>(i);
  // A heap with the worst of the best so far on top. What comes later and is equal stays out.
  std::make_heap(out, out + kept, before);
  int64_t i = kept;
  while ((i = kernels().find_above(x, i, count, x[out[0]])) < count) {
    std::pop_heap(out, out + kept, before);
    out[kept - 1] = static_cast<int32_t>(i);
    std::push_heap(out, out + kept, before);
    i++;
  }
  std::sort_heap(out, out + kept, before);
  return kept;
}

int64_t indices_from(const float* x, int64_t count, double temperature, double floor, int32_t* out) {
  // A float below which nothing can be meant; what is collected is then looked at as the sampler does.
  const double about = floor * temperature;
  const auto bound = static_cast<float>(about - std::fabs(about) * 0x1p-20 - 0x1p-100);
  const int64_t found = kernels().collect(x, count, std::isnan(bound) ? -INFINITY : bound, out);
  int64_t kept = 0;
  for (int64_t i = 0; i < found; i++) {
    out[kept] = out[i];
    kept += static_cast<double>(x[out[i]]) / temperature >= floor;
  }
  return kept;
}

}  // namespace rmx::cpu

int64_t cmlx_cpu_best_index(const float* row, size_t count) {
  return rmx::cpu::best_index(row, static_cast<int64_t>(count));
}

size_t cmlx_cpu_top_indices(const float* row, size_t count, size_t wanted, int32_t* out) {
  return rmx::cpu::top_indices(row, static_cast<int64_t>(count), static_cast<int64_t>(wanted), out);
}

size_t cmlx_cpu_indices_from(const float* row, size_t count, double temperature, double floor, int32_t* out) {
  return rmx::cpu::indices_from(row, static_cast<int64_t>(count), temperature, floor, out);
}

double cmlx_cpu_mass(const float* row, size_t count, double temperature, double best) {
  return rmx::cpu::kernels().mass(row, static_cast<int64_t>(count), temperature, best);
}
