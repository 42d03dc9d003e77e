// Kernels over one row of logits, for the sampler. Every variant gives the same bits: searches and selections are
// exact, and sums of exponentials are made of sixteen lanes and without fma whatever the width of a vector.
#pragma once

RMX_INLINE bool any(I mask) {
#if RMX_AVX512
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#else
  return __builtin_reduce_or(mask) != 0;
#endif
}

inline float maximum_of(const float* x, int64_t count) {
  F top = splat(-__builtin_inff());
  I unsound = {};
  int64_t i = 0;
  for (; i + L <= count; i += L) {
    const F values = load<F>(x + i);
    unsound |= values != values;
    const I larger = values > top;
    top = (F)(((I)values & larger) | ((I)top & ~larger));
  }
  float best = largest(top);
  bool sound = !any(unsound);
  for (; i < count; i++) {
    sound &= x[i] == x[i];
    best = x[i] > best ? x[i] : best;
  }
  return sound ? best : __builtin_nanf("");
}

inline int64_t find_above(const float* x, int64_t begin, int64_t count, float bound) {
  int64_t i = begin;
  while (i + L <= count && !any(load<F>(x + i) > splat(bound))) i += L;
  while (i < count && !(x[i] > bound)) i++;
  return i;
}

inline int64_t collect(const float* x, int64_t count, float bound, int32_t* out) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; i += L) {
    const int64_t last = i + L < count ? i + L : count;
    if (last == i + L && !any(load<F>(x + i) >= splat(bound))) continue;
    // A comparison that goes either way at random costs more than a store.
    for (int64_t at = i; at < last; at++) {
      out[found] = static_cast<int32_t>(at);
      found += x[at] >= bound;
    }
  }
  return found;
}

typedef int64_t I64 __attribute__((vector_size(L * 8)));

/// sum += e^x for x in [-700, 1], within 2 ulp of float64; nothing below.
RMX_INLINE void add_exponential(const D& x, D& sum) {
#pragma clang fp contract(off)
  const I64 within = x >= -700.0;
  const D clamped = (D)(((I64)x & within) | ((I64)(D{} - 700.0) & ~within));
  // 1.5 * 2^52: the sum's low bits are the nearest whole power of two.
  const D shifted = clamped * 1.4426950408889634 + 6755399441055744.0;
  const D power = shifted - 6755399441055744.0;
  const D r = (clamped - power * 0.693147180369123816490) - power * 1.90821492927058770002e-10;
  constexpr double kInverseFactorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                           1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                           1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
  D p = D{} + kInverseFactorials[0];
#pragma clang loop unroll(full)
  for (int i = 1; i < 12; i++) p = p * r + kInverseFactorials[i];
  p = (p * r) * r + r + 1.0;
  const I64 scale = ((I64)shifted - (I64)(D{} + 6755399441055744.0)) << 52;
  sum = sum + (D)((I64)((I64)p + scale) & within);
}

inline double mass(const float* x, int64_t count, double temperature, double best) {
#pragma clang fp contract(off)
  constexpr int kLanes = 16, kVectors = kLanes / L;
  D sums[kVectors] = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    for (int v = 0; v < kVectors; v++) {
      const int64_t at = i + v * L, left = count - at;
      F values;
      if (left >= L) {
        values = load<F>(x + at);
      } else {
        for (int lane = 0; lane < L; lane++) values[lane] = lane < left ? x[at + lane] : -__builtin_inff();
      }
      add_exponential(__builtin_convertvector(values, D) / temperature - best, sums[v]);
    }
  }
  double lanes[kLanes];
  __builtin_memcpy(lanes, sums, sizeof lanes);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; lane++) lanes[lane] = lanes[lane] + lanes[lane + half];
  }
  return lanes[0];
}
