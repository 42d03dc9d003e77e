// Quantized products with int8 activations: each 32 values of a row share one float32 scale (largest magnitude / 127).
//
// y = sum over groups of scale * (x scale * (codes . x codes)) + bias * sum(rounded x). The integer dot products are
// exact; codes of mxfp4 count as affine, (scale / 2) * (code + 12) - 6 scale. The float
// order is that of product_exact.h, and in long blocks (product_units.h) that of units.
#pragma once

/// One block of WIDTH weight rows against ROWS rows, int8 activations.
template <int CODE, int ROWS, int WIDTH>
struct FastBlock {
  static constexpr bool kLong = kLongBlocks<Codes<CODE>::kPerLane>, kRounded = true;
  const int8_t* values;
  const float* row_scales;
  int64_t stride, scale_stride;

  RMX_INLINE FastBlock(const Activations& x, const Layout& layout, int64_t row)
      : values(static_cast<const int8_t*>(x.values) + row * layout.stride.values),
        row_scales(x.scales + row * layout.stride.scales), stride(layout.stride.values),
        scale_stride(layout.stride.scales) {}

  /// One long block; `source` is its first byte in the first weight row.
  RMX_INLINE void units(
      const uint8_t* source, int64_t row_bytes, const F (&scale)[WIDTH], int64_t column, F (&acc)[ROWS][WIDTH]) const {
    using C = Codes<CODE>;
    constexpr int kSteps = Units<CODE>::kSteps;
    // Two weight rows at a time: their codes stay in registers, and a row's values are loaded once for both.
    constexpr int kPair = WIDTH < 2 ? WIDTH : 2;
#pragma clang loop unroll(full)
    for (int first = 0; first < WIDTH; first += kPair) {
      U code[kPair][kSteps];
      I dot[ROWS][kPair] = {};
#pragma clang loop unroll(full)
      for (int w = 0; w < kPair; w++) Units<CODE>::read(source + (first + w) * row_bytes, code[w]);
#pragma clang loop unroll(full)
      for (int i = 0; i < kSteps; i++) {
#pragma clang loop unroll(full)
        for (int r = 0; r < ROWS; r++) {
          const I value = load<I>(values + r * stride + column + i * 4 * L);
#pragma clang loop unroll(full)
          for (int w = 0; w < kPair; w++) dot[r][w] = dot4<(bits_of(CODE) < 8)>(dot[r][w], code[w][i], value);
        }
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < ROWS; r++) {
        const F row_scale = load<F>(row_scales + r * scale_stride + column / C::kPerLane);
#pragma clang loop unroll(full)
        for (int w = 0; w < kPair; w++) {
          F& sum = acc[r][first + w];
          sum = fma(to_float(dot[r][w]) * row_scale, scale[first + w], sum);
        }
      }
    }
  }

  RMX_INLINE void operator()(
      const U (&words)[WIDTH], const F (&scale)[WIDTH], int64_t column, F (&acc)[ROWS][WIDTH]) const {
    using C = Codes<CODE>;
    I dot[ROWS][WIDTH] = {};
#pragma clang loop unroll(full)
    for (int i = 0; i < C::kPhases; i++) {
      U code[WIDTH];
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) code[w] = C::phase(words[w], i);
#pragma clang loop unroll(full)
      for (int r = 0; r < ROWS; r++) {
        const I value = load<I>(values + r * stride + column + i * 4 * L);
#pragma clang loop unroll(full)
        for (int w = 0; w < WIDTH; w++) dot[r][w] = dot4<(bits_of(CODE) < 8)>(dot[r][w], code[w], value);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const F row_scale = load<F>(row_scales + r * scale_stride + column / C::kPerLane);
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(to_float(dot[r][w]) * row_scale, scale[w], acc[r][w]);
    }
  }
};
