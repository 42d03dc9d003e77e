// Puts a row of activations into the order in which the product kernels read it, padded with zeros to whole blocks.
#pragma once

RMX_INLINE int stored_bits(int bits) { return bits == 3 || bits == 5 || bits == 6 ? 8 : bits; }

RMX_INLINE int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

inline PackedSize packed_size(const Weight& weight, Arithmetic asked) {
  const Arithmetic arithmetic = arithmetic_of(weight, asked);
  if (weight.bits == 0) return {round_up(weight.columns, L), 0, 0};
  const int64_t per_lane = 32 / stored_bits(weight.bits);
  const int64_t values = round_up(weight.columns, per_lane * L);
  const int64_t sums = round_up(weight.columns / weight.group, L);
  return {values, arithmetic == Arithmetic::fast ? values / per_lane : 0, sums};
}

/// Sum of 32 values: eight lanes of four, then a tree. The same in all variants.
RMX_INLINE float sum32(const float* x) {
  float lane[8];
  for (int i = 0; i < 8; i++) lane[i] = (x[i] + x[i + 8]) + (x[i + 16] + x[i + 24]);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/// block, code in lane, lane  <-  block, lane, code in lane
template <int PER_LANE>
void pack_exact(const float* row, int64_t columns, int64_t padded, float* out) {
  constexpr int64_t block = PER_LANE * L;
  for (int64_t first = 0; first < padded; first += block, out += block) {
    if (first + block <= columns) {
      for (int j = 0; j < PER_LANE; j++) {
        for (int lane = 0; lane < L; lane++) out[j * L + lane] = row[first + lane * PER_LANE + j];
      }
      continue;
    }
    for (int i = 0; i < block; i++) {
      const int64_t column = first + (i % L) * PER_LANE + i / L;
      out[i] = column < columns ? row[column] : 0.0f;
    }
  }
}

/// Codes of a long block: as many units of 32, which share an activation scale, as there are lanes.
constexpr int64_t kLongBlock = 32 * L;
/// Whether fast products read long blocks: where the shuffles that bring a unit into one lane are cheap.
template <int PER_LANE>
constexpr bool kLongBlocks = RMX_AVX512 && (PER_LANE == 8 || PER_LANE == 4);

/// Rounds 32 values to int8. Returns their scale.
RMX_INLINE float round32(const float* x, int8_t* out) {
  float peak = 0;
  for (int i = 0; i < 32; i++) {
    const float magnitude = __builtin_fabsf(x[i]);
    peak = magnitude > peak ? magnitude : peak;
  }
  const float scale = peak / 127.0f;
  const float inverse = peak > 0 ? 127.0f / peak : 0.0f;
  // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even.
  for (int i = 0; i < 32; i++) out[i] = static_cast<int8_t>((x[i] * inverse + 12582912.0f) - 12582912.0f);
  return scale;
}

/// Where unit `unit` (32 codes) of a long block lies among its lanes, as the transposition of product_units.h puts it.
template <int PER_LANE>
constexpr int unit_lane(int unit) {
  return PER_LANE == 8 ? 4 * (unit % 4) + unit / 4 : 8 * (unit % 2) + unit / 2;
}

/// Of a long block: word, phase, lane, byte  <-  unit, word, phase + phases * byte.
template <int PER_LANE>
RMX_INLINE void pack_unit(const int8_t* codes, float scale, int unit, int8_t* out, float* scales) {
  constexpr int kPhases = PER_LANE / 4;
  const int lane = unit_lane<PER_LANE>(unit);
  scales[lane] = scale;
  for (int word = 0; word < 32 / PER_LANE; word++) {
    for (int phase = 0; phase < kPhases; phase++) {
      for (int byte = 0; byte < 4; byte++) {
        out[(word * kPhases + phase) * 4 * L + lane * 4 + byte] = codes[word * PER_LANE + phase + kPhases * byte];
      }
    }
  }
}

/// Of a block: phase, lane, byte  <-  lane, phase + phases * byte.
template <int PER_LANE>
void pack_fast(const Weight& weight, const float* row, int64_t padded, int8_t* out, float* scales, float* sums) {
  constexpr int kPhases = PER_LANE / 4;
  constexpr int64_t block = PER_LANE * L;
  const int64_t units_end = kLongBlocks<PER_LANE> ? weight.columns / kLongBlock * kLongBlock : 0;
  float group_sum = 0;
  for (int64_t first = 0; first < padded; first += 32) {
    int8_t codes[32] = {};
    float scale = 0;
    if (first < weight.columns) {
      scale = round32(row + first, codes);
      int total = 0;
      for (int i = 0; i < 32; i++) total += codes[i];
      group_sum += scale * static_cast<float>(total);
      if ((first + 32) % weight.group == 0) {
        sums[first / weight.group] = group_sum;
        group_sum = 0;
      }
    }
    if (first < units_end) {
      const int64_t base = first / kLongBlock * kLongBlock;
      pack_unit<PER_LANE>(codes, scale, static_cast<int>(first - base) / 32, out + base, scales + base / PER_LANE);
      continue;
    }
    const int64_t base = first / block * block;
    for (int lane = 0; lane < 32 / PER_LANE; lane++) {
      const int64_t in_block = (first - base) / PER_LANE + lane;
      scales[base / PER_LANE + in_block] = scale;
      for (int phase = 0; phase < kPhases; phase++) {
        for (int byte = 0; byte < 4; byte++) {
          out[base + phase * 4 * L + in_block * 4 + byte] = codes[lane * PER_LANE + phase + kPhases * byte];
        }
      }
    }
  }
}

template <int PER_LANE>
void pack_quantized(
    const Weight& weight, Arithmetic arithmetic, const float* row, void* values, float* scales, float* sums) {
  const PackedSize size = packed_size(weight, arithmetic);
  for (int64_t g = weight.columns / weight.group; g < size.sums; g++) sums[g] = 0;
  if (arithmetic == Arithmetic::fast) {
    pack_fast<PER_LANE>(weight, row, size.values, static_cast<int8_t*>(values), scales, sums);
    return;
  }
  pack_exact<PER_LANE>(row, weight.columns, size.values, static_cast<float*>(values));
  for (int64_t g = 0; g < weight.columns / weight.group; g++) {
    float total = 0;
    for (int64_t i = 0; i < weight.group; i += 32) total += sum32(row + g * weight.group + i);
    sums[g] = total;
  }
}

inline void pack_row(
    const Weight& weight, Arithmetic asked, const float* row, void* values, float* scales, float* sums) {
  const Arithmetic arithmetic = arithmetic_of(weight, asked);
  switch (weight.bits == 0 ? 0 : stored_bits(weight.bits)) {
    case 2: return pack_quantized<16>(weight, arithmetic, row, values, scales, sums);
    case 4: return pack_quantized<8>(weight, arithmetic, row, values, scales, sums);
    case 8: return pack_quantized<4>(weight, arithmetic, row, values, scales, sums);
    default: break;
  }
  float* out = static_cast<float*>(values);
  const int64_t padded = round_up(weight.columns, L);
  __builtin_memcpy(out, row, weight.columns * sizeof(float));
  for (int64_t i = weight.columns; i < padded; i++) out[i] = 0;
}
