// Searches and sums over one row of logits, the same bits in every variant of the kernels.
#pragma once

#include <cstdint>

namespace rmx::cpu {

/// The lowest index of the largest of `count` values; -1 if one is a NaN, or the largest is infinite, or there is none.
int64_t best_index(const float* x, int64_t count);

/// The `wanted` largest, best first, the lower index first on ties. `out` has room for them. No NaN. Returns how many.
int64_t top_indices(const float* x, int64_t count, int64_t wanted, int32_t* out);

/// Indices in order with x / temperature >= floor, taken in float64. `out` has room for `count`. Returns how many.
int64_t indices_from(const float* x, int64_t count, double temperature, double floor, int32_t* out);

}  // namespace rmx::cpu
