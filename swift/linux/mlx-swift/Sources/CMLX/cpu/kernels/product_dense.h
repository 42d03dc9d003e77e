// Products with dense weights (float32, float16, bfloat16) and float32 activations.
//
// Order of one element: lane i sums columns i, i + L, i + 2L, ... one after the other, then the lanes are summed as a
// tree.
#pragma once

template <int ROWS, int WIDTH>
void dense_tile(const Weight& weight, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  const int64_t columns = weight.columns;
  const PackedSize size = packed_size(weight, Arithmetic::exact);
  const float* values = static_cast<const float*>(x.values) + row * size.values;
  F acc[ROWS][WIDTH] = {};
  for (int64_t column = 0; column < columns; column += L) {
    F code[WIDTH];
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) {
      code[w] = load_elements(weight.scale, weight.codes, (n + w) * columns + column, columns - column);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const F value = load<F>(values + r * size.values + column);
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(code[w], value, acc[r][w]);
    }
  }
  for (int r = 0; r < ROWS; r++) {
    for (int w = 0; w < WIDTH; w++) y[(row + r) * stride + n + w] = sum(acc[r][w]);
  }
}
