// Conversions between float32 and the half types.
#pragma once

inline void widen(Element element, const void* source, int64_t count, float* target) {
  for (int64_t i = 0; i < count; i += L) {
    const F values = load_elements(element, source, i, count - i);
    if (i + L <= count) {
      store(target + i, values);
    } else {
      store_partial(target + i, values, count - i);
    }
  }
}

/// Ties to even; NaN stays NaN.
RMX_INLINE U16 to_bf16(F values) {
  const U bits = (U)values;
  const U rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const U nan = (U)(values != values);
  return __builtin_convertvector((rounded & ~nan) | (0x7fc0u & nan), U16);
}

RMX_INLINE U16 to_f16(F values) {
#if RMX_AVX512
  return (U16)_mm512_cvtps_ph((__m512)values, _MM_FROUND_TO_NEAREST_INT);
#elif RMX_AVX2
  return (U16)_mm256_cvtps_ph((__m256)values, _MM_FROUND_TO_NEAREST_INT);
#elif RMX_NEON
  typedef _Float16 H __attribute__((vector_size(L * 2)));
  return (U16) __builtin_convertvector(values, H);
#else
  const U bits = (U)values, sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  // Normal halves: rebias the exponent and round. Subnormal ones: let a float addition do the rounding.
  const U normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  const U subnormal = (U)((F)magnitude + 0.5f) - 0x3f000000u;
  const U small = (U)(magnitude < 0x38800000u), large = (U)(magnitude >= 0x477ff000u);
  const U nan = (U)(magnitude > 0x7f800000u);
  U half = (subnormal & small) | (normal & ~small);
  half = (half & ~large) | (0x7c00u & large);
  return __builtin_convertvector(sign | half | (0x200u & nan), U16);
#endif
}

inline void narrow(Element element, const float* source, int64_t count, uint16_t* target) {
  for (int64_t i = 0; i < count; i += L) {
    const int64_t left = count - i;
    const F values = left >= L ? load<F>(source + i) : load_partial<F>(source + i, left);
    const U16 half = element == Element::f16 ? to_f16(values) : to_bf16(values);
    __builtin_memcpy(target + i, &half, (left < L ? left : L) * 2);
  }
}
