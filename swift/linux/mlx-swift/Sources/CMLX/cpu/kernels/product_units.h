// Long blocks of fast products: the codes of L units of 32, one unit a lane.
//
// In memory a unit lies in several neighbouring words. Where a lane held one word each, the float work (conversion, two
// products) would be done for each word; a transposition of words brings a unit's codes into one lane first, so that it
// is done once a unit, and the shuffles are shared by the rows of a tile.
#pragma once

/// Which of a run's L scales each lane of its long block `block` takes; a group has 1 << shift codes.
template <int PER_LANE>
RMX_INLINE I unit_scale_index(int shift, int block) {
  I unit;
  // The inverse of unit_lane.
  for (int i = 0; i < L; i++) unit[i] = PER_LANE == 8 ? 4 * (i % 4) + i / 4 : 2 * (i % 8) + i / 8;
  return (unit + block * L) >> (shift - 5);
}

/// Swaps lane-in-four and register: out[j] holds word j of each four lanes of v[0], v[1], v[2], v[3].
RMX_INLINE void transpose_words(const U* v, U* out) {
#if RMX_AVX512
  const __m512i low01 = _mm512_unpacklo_epi32((__m512i)v[0], (__m512i)v[1]);
  const __m512i high01 = _mm512_unpackhi_epi32((__m512i)v[0], (__m512i)v[1]);
  const __m512i low23 = _mm512_unpacklo_epi32((__m512i)v[2], (__m512i)v[3]);
  const __m512i high23 = _mm512_unpackhi_epi32((__m512i)v[2], (__m512i)v[3]);
  out[0] = (U)_mm512_unpacklo_epi64(low01, low23);
  out[1] = (U)_mm512_unpackhi_epi64(low01, low23);
  out[2] = (U)_mm512_unpacklo_epi64(high01, high23);
  out[3] = (U)_mm512_unpackhi_epi64(high01, high23);
#else
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < L; i++) out[j][i] = v[i % 4][i / 4 * 4 + j];
  }
#endif
}

/// Joins quarters of `a` and `b`: a's even ones (odd ones if ODD) to places 0 and 2, b's to places 1 and 3.
template <bool ODD>
RMX_INLINE U join_quarters(U a, U b) {
#if RMX_AVX512
  const __m512i index =
      ODD ? _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15) : _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  return (U)_mm512_permutex2var_epi64((__m512i)a, index, (__m512i)b);
#else
  U out;
  for (int i = 0; i < L; i++) out[i] = (i / 4 % 2 ? b : a)[i / 8 * 8 + (ODD ? 4 : 0) + i % 4];
  return out;
#endif
}

/// Reads a long block of one weight row as bytes for `dot4`, in the order of pack_unit.
template <int CODE>
struct Units {
  using C = Codes<CODE>;
  static constexpr int kSteps = 8;

  static RMX_INLINE void read(const uint8_t* source, U (&out)[kSteps]) {
    if constexpr (C::kStored == 4) {
      U words[4], each[4];
#pragma clang loop unroll(full)
      for (int i = 0; i < 4; i++) words[i] = load<U>(source + i * C::kBlockBytes);
      transpose_words(words, each);
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; j++) {
        out[2 * j] = C::phase(each[j], 0);
        out[2 * j + 1] = C::phase(each[j], 1);
      }
    } else {
      U words[8], low[4], high[4];
#pragma clang loop unroll(full)
      for (int i = 0; i < 8; i++) words[i] = C::block(source + i * C::kBlockBytes, C::kBlockBytes);
      transpose_words(words, low);
      transpose_words(words + 4, high);
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; j++) {
        out[j] = join_quarters<false>(low[j], high[j]);
        out[4 + j] = join_quarters<true>(low[j], high[j]);
      }
    }
  }
};
