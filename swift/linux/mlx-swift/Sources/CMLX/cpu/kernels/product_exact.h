// Quantized products with float32 activations. y = sum over groups of scale * (codes . x) + bias * sum(x).
//
// Order of one element, fixed by the weight's shape: lanes start with the bias terms (group g in lane g mod L); then
// block after block: each lane sums code * x over its word, and adds that sum times the group's scale; last, the lanes
// are summed as a tree. Tiling over rows and weight rows keeps that order, so row counts and threads change no bit.
#pragma once

/// Groups whose scales are widened at a time.
constexpr int64_t kGroupsMax = 256;

/// `count` scales of weight row `row` from group `first` on, as float32, zeros up to a full vector behind them.
RMX_INLINE void widen_scales(const Weight& weight, const void* source, int64_t at, int64_t count, float* out) {
  for (int64_t g = 0; g < count; g += L) store(out + g, load_elements(weight.scale, source, at + g, count - g));
}

/// Which of the loaded scales each lane takes, when a lane holds `per_lane` columns and a group 1 << `shift`.
RMX_INLINE I scale_index(int shift, int per_lane) {
  I index;
  for (int i = 0; i < L; i++) index[i] = i * per_lane >> shift;
  return index;
}

template <int ROWS, int WIDTH>
RMX_INLINE void add_biases(
    const Weight& weight, const Activations& x, int64_t row, int64_t n, int64_t sums_stride, F (&acc)[ROWS][WIDTH]) {
  const int64_t groups = weight.columns / weight.group;
  for (int64_t g = 0; g < groups; g += L) {
    F bias[WIDTH];
    for (int w = 0; w < WIDTH; w++) {
      bias[w] = load_elements(weight.scale, weight.biases, (n + w) * groups + g, groups - g);
    }
    for (int r = 0; r < ROWS; r++) {
      const F sums = load<F>(x.sums + (row + r) * sums_stride + g);
      for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(bias[w], sums, acc[r][w]);
    }
  }
}

template <int BITS, int ROWS, int WIDTH>
RMX_INLINE void exact_block(
    const uint8_t* const (&codes)[WIDTH], int64_t offset, int64_t bytes, const float* const (&scales)[WIDTH], int64_t group,
    I index, const float* x, int64_t x_stride, F (&acc)[ROWS][WIDTH]) {
  using C = Codes<BITS>;
  U words[WIDTH];
  F part[ROWS][WIDTH];
#pragma clang loop unroll(full)
  for (int w = 0; w < WIDTH; w++) words[w] = C::block(codes[w] + offset, bytes);
#pragma clang loop unroll(full)
  for (int j = 0; j < C::kPerLane; j++) {
    F code[WIDTH];
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) code[w] = C::code(words[w], j);
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const F value = load<F>(x + r * x_stride + j * L);
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) part[r][w] = j == 0 ? code[w] * value : fma(code[w], value, part[r][w]);
    }
  }
#pragma clang loop unroll(full)
  for (int w = 0; w < WIDTH; w++) {
    const F scale = permute(load<F>(scales[w] + group), index);
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) acc[r][w] = fma(part[r][w], scale, acc[r][w]);
  }
}

/// Rows [row, row + ROWS) times weight rows [n, n + WIDTH).
template <int BITS, int ROWS, int WIDTH>
void exact_tile(const Weight& weight, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  using C = Codes<BITS>;
  const PackedSize size = packed_size(weight, Arithmetic::exact);
  const int64_t groups = weight.columns / weight.group;
  const int64_t row_bytes = weight.columns * BITS / 8;
  const int shift = __builtin_ctz(weight.group);
  const I index = scale_index(shift, C::kPerLane);
  F acc[ROWS][WIDTH] = {};
  add_biases<ROWS, WIDTH>(weight, x, row, n, size.sums, acc);
  const uint8_t* codes[WIDTH];
  for (int w = 0; w < WIDTH; w++) codes[w] = static_cast<const uint8_t*>(weight.codes) + (n + w) * row_bytes;
  const float* values = static_cast<const float*>(x.values) + row * size.values;
  for (int64_t first = 0; first < groups; first += kGroupsMax) {
    const int64_t count = groups - first < kGroupsMax ? groups - first : kGroupsMax;
    alignas(64) float widened[WIDTH][kGroupsMax + L];
    const float* scales[WIDTH];
    for (int w = 0; w < WIDTH; w++) {
      widen_scales(weight, weight.scales, (n + w) * groups + first, count, widened[w]);
      scales[w] = widened[w];
    }
    const int64_t end = (first + count) * weight.group;
    int64_t column = first * weight.group;
    for (; column + C::kPerBlock <= end; column += C::kPerBlock) {
      exact_block<BITS, ROWS, WIDTH>(
          codes, column * BITS / 8, C::kBlockBytes, scales, (column >> shift) - first, index, values + column,
          size.values, acc);
    }
    if (column < end) {
      exact_block<BITS, ROWS, WIDTH>(
          codes, column * BITS / 8, (end - column) * BITS / 8, scales, (column >> shift) - first, index,
          values + column, size.values, acc);
    }
  }
  for (int r = 0; r < ROWS; r++) {
    for (int w = 0; w < WIDTH; w++) y[(row + r) * stride + n + w] = sum(acc[r][w]);
  }
}
