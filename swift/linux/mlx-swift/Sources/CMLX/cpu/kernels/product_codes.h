// Reads packed weight codes block by block: one block is a 32-bit word in each lane.
//
// 2, 4 and 8 bits: the words as they lie in memory, 16, 8 or 4 codes a word. 3, 5 and 6 bits straddle words in memory,
// so a block is spread to one byte a code first and is then read as 8-bit. `Codes<CODE>` says how many codes a lane
// holds (kPerLane), how to get block i, and how to take code j of each lane as a float.
#pragma once

/// Kinds of codes, as template arguments: the bits of an affine one, or one of these.
constexpr int kMxfp4 = 16 + 4, kMxfp8 = 16 + 8;
constexpr int bits_of(int code) { return code % 16; }
constexpr bool is_affine(int code) { return code < 16; }

/// Floats of E2M1: sign, two bits of exponent, one of fraction. Twice their value is a whole number, at most 12.
alignas(32) constexpr float kMagnitudes4[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
/// 12 + twice the value of each code, for dot products with unsigned codes.
alignas(16) constexpr uint8_t kShifted4[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// E2M1 in the low four bits of each lane; the others are ignored.
RMX_INLINE F from_e2m1(U words) {
#if RMX_AVX512
  const F values = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  return permute(values, (I)words);
#else
  const F magnitude = permute(load<F>(kMagnitudes4), (I)(words & 7u));
  return (F)((U)magnitude | (words << 28 & 0x80000000u));
#endif
}

/// E4M3 in the low eight bits of each lane; the others are ignored. All codes are finite, as in MLX: 0x7f is 480.
RMX_INLINE F from_e4m3(U words) {
  const U magnitude = words & 0x7fu;
  // The exponent's bias is 7; below 8 there is none, and the fraction counts steps of 2^-9.
  const U normal = (magnitude << 20) + (120u << 23), small = (U)(to_float((I)magnitude) * 0x1p-9f);
  const U below = (U)(magnitude < 8u);
  return (F)((small & below) | (normal & ~below) | (words << 24 & 0x80000000u));
}

template <int CODE>
struct Codes {
  static constexpr int BITS = bits_of(CODE);
  static constexpr bool kStraddles = BITS == 3 || BITS == 5 || BITS == 6;
  static constexpr int kStored = kStraddles ? 8 : BITS;
  static constexpr int kPerLane = 32 / kStored;
  static constexpr int kPerBlock = kPerLane * L;
  /// Bytes of packed codes that a full block takes.
  static constexpr int kBlockBytes = kPerBlock * BITS / 8;
  static constexpr uint32_t kMask = (1u << kStored) - 1;

  /// Block at `source`; `bytes` (at most kBlockBytes) of it belong to the row, the rest reads as code 0.
  static RMX_INLINE U block(const uint8_t* source, int64_t bytes) {
    if constexpr (kStraddles) {
      return spread(source, bytes);
    } else {
      return bytes >= kBlockBytes ? load<U>(source) : load_partial<U>(source, bytes / 4);
    }
  }

  /// Code `j` of each lane.
  static RMX_INLINE F code(U words, int j) {
    if constexpr (CODE == kMxfp4) return from_e2m1(words >> (4 * j));
    if constexpr (CODE == kMxfp8) return from_e4m3(words >> (8 * j));
#if RMX_AVX512
    if constexpr (CODE == 4) {
      // The permute looks at the low four bits of an index only: one instruction masks and converts.
      const F digits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
      return permute(digits, (I)(words >> (4 * j)));
    }
#endif
    return to_float((I)(words >> (kStored * j) & kMask));
  }

  /// Bytes for the integer dot product: phase i (below kPhases) holds codes i, i + kPhases, ... of each lane; those of
  /// mxfp4 are doubled and moved up by 12.
  static constexpr int kPhases = kPerLane / 4;
  static RMX_INLINE U phase(U words, int i) {
    constexpr uint32_t mask = kMask * 0x01010101u;
    const U codes = kPhases == 1 ? words : words >> (kStored * i) & mask;
    return CODE == kMxfp4 ? lookup(kShifted4, codes) : codes;
  }

 private:
  static RMX_INLINE U spread(const uint8_t* source, int64_t bytes) {
#if RMX_AVX512
    // Eight codes are BITS bytes: put them into a quadword, then cut each code out of its bit offset.
    const int64_t kept = bytes < kBlockBytes ? bytes : kBlockBytes;
    const __m512i packed = _mm512_maskz_loadu_epi8((__mmask64{1} << kept) - 1, source);
    const __m512i quads = _mm512_permutexvar_epi8(quad_bytes(), packed);
    const __m512i fields = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(field_offsets()), quads);
    return (U)_mm512_and_si512(fields, _mm512_set1_epi8((1 << BITS) - 1));
#else
    uint8_t out[kPerBlock] = {};
    for (int64_t eight = 0; eight * BITS < bytes && eight * 8 < kPerBlock; eight++) {
      uint64_t packed = 0;
      __builtin_memcpy(&packed, source + eight * BITS, BITS);
      for (int i = 0; i < 8; i++) out[eight * 8 + i] = packed >> (BITS * i) & ((1 << BITS) - 1);
    }
    return load<U>(out);
#endif
  }

#if RMX_AVX512
  static RMX_INLINE __m512i quad_bytes() {
    alignas(64) uint8_t index[64];
    for (int i = 0; i < 64; i++) index[i] = (i / 8) * BITS + (i % 8 < BITS ? i % 8 : 0);
    return _mm512_load_si512(index);
  }
  static constexpr int64_t field_offsets() {
    int64_t offsets = 0;
    for (int i = 0; i < 8; i++) offsets |= static_cast<int64_t>(BITS * i) << (8 * i);
    return offsets;
  }
#endif
};
