// Vectors of one variant. Included once by each variant_*.cpp, inside its namespace and its target attributes.
//
// RMX_LANES floats a vector, written with clang's vector extensions, so that NEON and plain C++ need no code of their
// own; what the extensions cannot say (permutes, dot products, half conversion) has a branch for each instruction set.
// Sums across lanes are always the tree (i, i + half), so they do not depend on the instructions.
#pragma once

constexpr int L = RMX_LANES;

typedef float F __attribute__((vector_size(L * 4)));
typedef int32_t I __attribute__((vector_size(L * 4)));
typedef uint32_t U __attribute__((vector_size(L * 4)));
typedef uint16_t U16 __attribute__((vector_size(L * 2)));
typedef uint8_t U8 __attribute__((vector_size(L)));

#define RMX_INLINE inline __attribute__((always_inline))

template <class V>
RMX_INLINE V load(const void* source) {
  V v;
  __builtin_memcpy(&v, source, sizeof v);
  return v;
}

template <class V>
RMX_INLINE void store(void* target, V v) {
  __builtin_memcpy(target, &v, sizeof v);
}

/// The first `count` (0 to L) elements; zeros after them, whose memory is not touched.
template <class V>
RMX_INLINE V load_partial(const void* source, int64_t count) {
#if RMX_AVX512
  if constexpr (sizeof(V) == 64) {
    return (V)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), source);
  } else if constexpr (sizeof(V) == 32) {
    return (V)_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), source);
  }
#endif
  V v = {};
  __builtin_memcpy(&v, source, count * (sizeof(V) / L));
  return v;
}

RMX_INLINE void store_partial(float* target, F v, int64_t count) { __builtin_memcpy(target, &v, count * 4); }

RMX_INLINE F zero() { return F{}; }

RMX_INLINE F splat(float value) { return F{} + value; }

/// a * b + c: one rounding where the machine has FMA, two in the plain variant.
RMX_INLINE F fma(F a, F b, F c) {
#if RMX_FMA
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

RMX_INLINE F maximum(F a, F b) { return __builtin_elementwise_max(a, b); }

RMX_INLINE F to_float(I v) { return __builtin_convertvector(v, F); }

/// Values of `table` at `index` (0 to L - 1; higher bits must be zero except on AVX-512, which ignores them).
RMX_INLINE F permute(F table, I index) {
#if RMX_AVX512
  return (F)_mm512_permutexvar_ps((__m512i)index, (__m512)table);
#elif RMX_AVX2
  return (F)_mm256_permutevar8x32_ps((__m256)table, (__m256i)index);
#else
  F out;
  for (int i = 0; i < L; i++) out[i] = table[index[i]];
  return out;
#endif
}

/// Sum over lanes: (i, i + L/2), then quarters, and so on.
RMX_INLINE float sum(F v) {
  typedef float F8 __attribute__((vector_size(32)));
  typedef float F4 __attribute__((vector_size(16)));
#if RMX_LANES == 16
  F8 eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
             __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  F8 eight = v;
#endif
  F4 four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  F4 two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
  return two[0] + two[1];
}

/// Adds the halves of each group of 2 * HALF lanes: those of `a` stay in its first half, those of `b` in its second.
template <int HALF>
RMX_INLINE F fold(F a, F b) {
#if RMX_LANES == 16
  if constexpr (HALF == 8) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  } else if constexpr (HALF == 4) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  } else if constexpr (HALF == 2) {
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  } else {
    return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
           __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  }
#else
  if constexpr (HALF == 4) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  } else if constexpr (HALF == 2) {
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
#endif
}

/// Sums over lanes of COUNT vectors (a power of two up to L), in the order of `sum`: that of vector i ends up in lane
/// i * L / COUNT of the result. Overwrites `v`.
template <int COUNT, int HALF = L / 2>
RMX_INLINE F sum_each(F* v) {
  if constexpr (HALF == 0) {
    return v[0];
  } else if constexpr (COUNT == 1) {
    v[0] = fold<HALF>(v[0], v[0]);
    return sum_each<1, HALF / 2>(v);
  } else {
#pragma clang loop unroll(full)
    for (int i = 0; i < COUNT / 2; i++) v[i] = fold<HALF>(v[i], v[i + COUNT / 2]);
    return sum_each<COUNT / 2, HALF / 2>(v);
  }
}

constexpr int power_of_two(int count) { return count <= 1 ? 1 : 2 * power_of_two((count + 1) / 2); }

/// target[r * stride + w] = sum(acc[r][w]), up to L sums at a time.
template <int ROWS, int WIDTH>
RMX_INLINE void store_sums(const F (&acc)[ROWS][WIDTH], float* target, int64_t stride) {
  constexpr int kCount = ROWS * WIDTH;
  constexpr int kSome = kCount < L ? power_of_two(kCount) : L;
#pragma clang loop unroll(full)
  for (int first = 0; first < kCount; first += kSome) {
    F some[kSome];
#pragma clang loop unroll(full)
    for (int i = 0; i < kSome; i++) some[i] = first + i < kCount ? acc[(first + i) / WIDTH][(first + i) % WIDTH] : zero();
    const F sums = sum_each<kSome>(some);
#pragma clang loop unroll(full)
    for (int i = 0; i < kSome && first + i < kCount; i++) {
      target[(first + i) / WIDTH * stride + (first + i) % WIDTH] = sums[i * (L / kSome)];
    }
  }
}

RMX_INLINE float largest(F v) {
  float out = v[0];
  for (int i = 1; i < L; i++) out = out > v[i] ? out : v[i];
  return out;
}

RMX_INLINE F from_f16(U16 half) {
#if RMX_AVX512
  return (F)_mm512_cvtph_ps((__m256i)half);
#elif RMX_AVX2
  return (F)_mm256_cvtph_ps((__m128i)half);
#elif RMX_NEON
  typedef _Float16 H __attribute__((vector_size(L * 2)));
  return __builtin_convertvector((H)half, F);
#else
  // The exponent is moved by a product, so that subnormals come out right; infinity and NaN are put back by hand.
  U bits = __builtin_convertvector(half, U);
  F magnitude = (F)((bits & 0x7fffu) << 13) * 0x1p112f;
  U special = (U)((bits & 0x7c00u) == 0x7c00u) & 0x7f800000u;
  return (F)((U)magnitude | special | (bits & 0x8000u) << 16);
#endif
}

RMX_INLINE F from_bf16(U16 half) { return (F)(__builtin_convertvector(half, U) << 16); }

/// 2^(byte - 127); 255 is infinity, as MLX has it.
RMX_INLINE F from_e8m0(U8 bytes) {
  const U bits = __builtin_convertvector(bytes, U);
  // 2^-127 has no exponent field of its own.
  return (F)(bits << 23 | ((U)(bits == 0) & 0x00400000u));
}

/// `count` (1 to L) e8m0 scales from `at` on; after them 2^-127, which no code meets.
RMX_INLINE F load_exponents(const void* source, int64_t at, int64_t count) {
  const uint8_t* p = static_cast<const uint8_t*>(source) + at;
  U8 bytes = {};
  if (count >= L) {
    bytes = load<U8>(p);
  } else {
    __builtin_memcpy(&bytes, p, count);
  }
  return from_e8m0(bytes);
}

/// `count` (1 to L) values of any element type from element `at` on, widened; zeros after them (e8m0: 2^-127).
RMX_INLINE F load_elements(Element type, const void* source, int64_t at, int64_t count) {
  if (type == Element::f32) {
    const float* p = static_cast<const float*>(source) + at;
    return count >= L ? load<F>(p) : load_partial<F>(p, count);
  }
  if (type == Element::e8m0) return load_exponents(source, at, count);
  const uint16_t* p = static_cast<const uint16_t*>(source) + at;
  const U16 half = count >= L ? load<U16>(p) : load_partial<U16>(p, count);
  return type == Element::f16 ? from_f16(half) : from_bf16(half);
}

/// The byte of `table` (16 of them) that each byte of `index` (0 to 15) names.
RMX_INLINE U lookup(const uint8_t* table, U index) {
#if RMX_AVX512
  return (U)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)table)), (__m512i)index);
#elif RMX_AVX2
  const __m256i both = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)table));
  return (U)_mm256_shuffle_epi8(both, (__m256i)index);
#elif RMX_NEON
  const uint8x16_t bytes = vld1q_u8(table);
  uint8x16_t half[2];
  __builtin_memcpy(half, &index, sizeof index);
  for (uint8x16_t& some : half) some = vqtbl1q_u8(bytes, some);
  return load<U>(half);
#else
  uint8_t bytes[4 * L];
  __builtin_memcpy(bytes, &index, sizeof bytes);
  for (uint8_t& byte : bytes) byte = table[byte];
  return load<U>(bytes);
#endif
}

/// acc + the dot product of 4 unsigned codes with 4 signed bytes in each lane. Exact.
template <bool CODES_BELOW_128>
RMX_INLINE I dot4(I acc, U codes, I bytes) {
#if RMX_AVX512
  return (I)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)codes, (__m512i)bytes);
#elif RMX_AVX2
  const __m256i ones = _mm256_set1_epi16(1);
  if constexpr (CODES_BELOW_128) {
    return acc + (I)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)codes, (__m256i)bytes), ones);
  } else {
    // Pairs of 8-bit codes overflow 16 bits: the low seven bits first, then the eighth.
    const U low = codes & 0x7f7f7f7fu, high = (codes >> 7) & 0x01010101u;
    const I first = (I)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)low, (__m256i)bytes), ones);
    const I second = (I)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)high, (__m256i)bytes), ones);
    return acc + first + (second << 7);
  }
#else
  I sum = acc;
  for (int shift = 0; shift < 32; shift += 8) {
    sum += (I)(codes >> shift & 0xffu) * ((I)((U)bytes << (24 - shift)) >> 24);
  }
  return sum;
#endif
}

/// e^x in float32: within 2 ulp on [-87, 88], 0 below, clamped above.
RMX_INLINE F exponential(F x) {
  const F clamped = __builtin_elementwise_min(maximum(x, splat(-87.33654f)), splat(88.37626f));
  const F scaled = fma(clamped, splat(1.44269504f), splat(12582912.0f));
  const F power = scaled - splat(12582912.0f);
  F r = fma(power, splat(-0.693359375f), clamped);
  r = fma(power, splat(2.12194440e-4f), r);
  F p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, r * r, r) + splat(1.0f);
  const I exponent = ((I)scaled - (I)splat(12582912.0f)) << 23;
  const F result = (F)((I)p + exponent);
  return (F)((I)result & (I)(x >= splat(-87.33654f)));
}
