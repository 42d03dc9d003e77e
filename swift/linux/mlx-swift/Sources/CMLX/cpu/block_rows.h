// The steps that the fused blocks are made of. Each shares its work out over the pool and ends when it is done.
#pragma once

#include "blocks.h"
#include "profile.h"

namespace rmx::cpu {

/// Rows handed from one step to the next: float32 [count, width], adjacent.
struct Floats {
  float* data;
  int64_t count;
  int64_t width;
  float* row(int64_t index) const { return data + index * width; }
};

/// Whether rows packed for `a` are packed for `b`.
bool same_packing(const Weight& a, const Weight& b);

/// Norms each row and packs it for `weight`; also for `other` where that needs another packing.
struct PackedRows {
  Activations first, second;
};
PackedRows norm_and_pack(
    const Rows& rows, const Norm& norm, const Weight& weight, const Weight& other, Scratch& scratch);

/// Packs rows that are float32 already.
Activations pack_floats(const Floats& rows, const Weight& weight, Scratch& scratch);

/// out = residual + rows x weight + bias, rounded to `element`; `bias` may be empty. Counts as `stage`.
void multiply_and_add(
    Stage stage, const Weight& weight, const Activations& rows, const Vector& bias, const Rows& residual,
    Element element, void* out);

}  // namespace rmx::cpu
