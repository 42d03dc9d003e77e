// Quantized products with int8 activations: each 32 values of a row share one float32 scale (largest magnitude / 127).
//
// y = sum over groups of scale * (x scale * (codes . x codes)) + bias * sum(rounded x). The integer dot products are
// exact; the float order is that of product_exact.h: bias terms first, then block after block in each lane, then the
// tree.
#pragma once

template <int BITS, int ROWS, int WIDTH>
RMX_INLINE void fast_block(
    const uint8_t* const (&codes)[WIDTH], int64_t offset, int64_t bytes, const float* const (&scales)[WIDTH], int64_t group,
    I index, const int8_t* x, int64_t x_stride, const float* x_scale, int64_t x_scale_stride, F (&acc)[ROWS][WIDTH]) {
  using C = Codes<BITS>;
  I dot[ROWS][WIDTH] = {};
  U words[WIDTH];
#pragma clang loop unroll(full)
  for (int w = 0; w < WIDTH; w++) words[w] = C::block(codes[w] + offset, bytes);
#pragma clang loop unroll(full)
  for (int i = 0; i < C::kPhases; i++) {
    U code[WIDTH];
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) code[w] = C::phase(words[w], i);
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const I value = load<I>(x + r * x_stride + i * 4 * L);
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) dot[r][w] = dot4<(BITS < 8)>(dot[r][w], code[w], value);
    }
  }
  F scale[WIDTH];
#pragma clang loop unroll(full)
  for (int w = 0; w < WIDTH; w++) scale[w] = permute(load<F>(scales[w] + group), index);
#pragma clang loop unroll(full)
  for (int r = 0; r < ROWS; r++) {
    const F row_scale = load<F>(x_scale + r * x_scale_stride);
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(to_float(dot[r][w]) * row_scale, scale[w], acc[r][w]);
  }
}

/// Rows [row, row + ROWS) times weight rows [n, n + WIDTH).
template <int BITS, int ROWS, int WIDTH>
void fast_tile(const Weight& weight, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  using C = Codes<BITS>;
  const PackedSize size = packed_size(weight, Arithmetic::fast);
  const int64_t groups = weight.columns / weight.group;
  const int64_t row_bytes = weight.columns * BITS / 8;
  const int shift = __builtin_ctz(weight.group);
  const I index = scale_index(shift, C::kPerLane);
  F acc[ROWS][WIDTH] = {};
  add_biases<ROWS, WIDTH>(weight, x, row, n, size.sums, acc);
  const uint8_t* codes[WIDTH];
  for (int w = 0; w < WIDTH; w++) codes[w] = static_cast<const uint8_t*>(weight.codes) + (n + w) * row_bytes;
  const int8_t* values = static_cast<const int8_t*>(x.values) + row * size.values;
  const float* x_scales = x.scales + row * size.scales;
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
      fast_block<BITS, ROWS, WIDTH>(
          codes, column * BITS / 8, C::kBlockBytes, scales, (column >> shift) - first, index, values + column, size.values,
          x_scales + column / C::kPerLane, size.scales, acc);
    }
    if (column < end) {
      fast_block<BITS, ROWS, WIDTH>(
          codes, column * BITS / 8, (end - column) * BITS / 8, scales, (column >> shift) - first, index, values + column,
          size.values, x_scales + column / C::kPerLane, size.scales, acc);
    }
  }
  for (int r = 0; r < ROWS; r++) {
    for (int w = 0; w < WIDTH; w++) y[(row + r) * stride + n + w] = sum(acc[r][w]);
  }
}
