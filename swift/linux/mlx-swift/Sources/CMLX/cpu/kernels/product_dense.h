// Products with dense weights (float32, float16, bfloat16) and float32 activations.
//
// Order of one element: lane i sums columns i, i + L, i + 2L, ... one after the other, then the lanes are summed as a
// tree.
#pragma once

template <int ROWS, int WIDTH>
RMX_INLINE void dense_tile(
    const Weight& weight, const Layout& layout, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  const int64_t columns = weight.columns, values_stride = layout.stride.values;
  const float* values = static_cast<const float*>(x.values) + row * values_stride;
  F acc[ROWS][WIDTH] = {};
  for (int64_t column = 0; column < columns; column += L) {
    F code[WIDTH];
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) {
      code[w] = load_elements(weight.scale, weight.codes, (n + w) * columns + column, columns - column);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const F value = load<F>(values + r * values_stride + column);
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(code[w], value, acc[r][w]);
    }
  }
  store_sums<ROWS, WIDTH>(acc, y + row * stride + n, stride);
}
