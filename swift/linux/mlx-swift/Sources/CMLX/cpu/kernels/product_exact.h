// Quantized products with float32 activations. y = sum over groups of scale * (codes . x) + bias * sum(x);
// mxfp4 and mxfp8 have no bias here.
//
// Order of one element, fixed by the weight's shape: runs of L groups in turn; in a run lane i takes the bias term of
// its group i, then block after block each lane sums code * x over its word and adds that sum times the group's scale;
// last, the lanes are summed as a tree. Tiling over rows and weight rows keeps that order, so row counts and threads
// change no bit.
#pragma once

/// Numbers of a product that every tile needs.
struct Layout {
  int shift;
  int64_t groups, row_bytes;
  /// Elements between packed rows.
  PackedSize stride;
  Layout(const Weight& weight, Arithmetic arithmetic)
      : shift(weight.bits ? __builtin_ctz(weight.group) : 0), groups(weight.bits ? weight.columns >> shift : 0),
        row_bytes(weight.columns * weight.bits / 8), stride(packed_size(weight, arithmetic)) {}
};

/// Which of a run's L scales each lane of its block `block` takes; a group has 1 << shift codes.
template <int PER_LANE>
RMX_INLINE I scale_index(int shift, int block) {
  constexpr int kPerLaneShift = PER_LANE == 16 ? 4 : PER_LANE == 8 ? 3 : 2;
  I lane;
  for (int i = 0; i < L; i++) lane[i] = i;
  return (lane + block * L) >> (shift - kPerLaneShift);
}

/// One block of WIDTH weight rows against ROWS rows, float32 activations.
template <int CODE, int ROWS, int WIDTH>
struct ExactBlock {
  static constexpr bool kLong = false, kRounded = false;
  const float* values;
  int64_t stride;

  RMX_INLINE ExactBlock(const Activations& x, const Layout& layout, int64_t row)
      : values(static_cast<const float*>(x.values) + row * layout.stride.values), stride(layout.stride.values) {}

  RMX_INLINE void operator()(
      const U (&words)[WIDTH], const F (&scale)[WIDTH], int64_t column, F (&acc)[ROWS][WIDTH]) const {
    using C = Codes<CODE>;
    F part[ROWS][WIDTH];
#pragma clang loop unroll(full)
    for (int j = 0; j < C::kPerLane; j++) {
      F code[WIDTH];
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) code[w] = C::code(words[w], j);
#pragma clang loop unroll(full)
      for (int r = 0; r < ROWS; r++) {
        const F value = load<F>(values + r * stride + column + j * L);
#pragma clang loop unroll(full)
        for (int w = 0; w < WIDTH; w++) part[r][w] = j == 0 ? code[w] * value : fma(code[w], value, part[r][w]);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) acc[r][w] = fma(part[r][w], scale[w], acc[r][w]);
    }
  }
};

/// Rows [row, row + ROWS) times weight rows [n, n + WIDTH); `Block` is the arithmetic.
template <int CODE, int ROWS, int WIDTH, class Block>
RMX_INLINE void quantized_tile(
    const Weight& weight, const Layout& layout, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  using C = Codes<CODE>;
  const Block block(x, layout, row);
  const uint8_t* codes = static_cast<const uint8_t*>(weight.codes) + n * layout.row_bytes;
  F acc[ROWS][WIDTH] = {};
  for (int64_t first = 0; first < layout.groups; first += L) {
    F scales[WIDTH];
#pragma clang loop unroll(full)
    for (int w = 0; w < WIDTH; w++) {
      const int64_t at = (n + w) * layout.groups + first, left = layout.groups - first;
      F bias;
      if constexpr (is_affine(CODE)) {
        scales[w] = load_elements(weight.scale, weight.scales, at, left);
        bias = load_elements(weight.scale, weight.biases, at, left);
      } else if constexpr (Block::kRounded) {
        // Codes are doubled and moved up by 12.
        scales[w] = load_exponents(weight.scales, at, left) * splat(0.5f);
        bias = scales[w] * splat(-12.0f);
      } else {
        scales[w] = load_exponents(weight.scales, at, left);
        continue;
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < ROWS; r++) {
        acc[r][w] = fma(bias, load<F>(x.sums + (row + r) * layout.stride.sums + first), acc[r][w]);
      }
    }
    const int64_t begin = first << layout.shift;
    const int64_t rest = weight.columns - begin, run = int64_t{L} << layout.shift;
    const int64_t columns = rest < run ? rest : run;
    int64_t done = 0;
    if constexpr (Block::kLong) {
      for (; done + kLongBlock <= columns; done += kLongBlock) {
        const I index = unit_scale_index<C::kPerLane>(layout.shift, static_cast<int>(done / kLongBlock));
        F scale[WIDTH];
#pragma clang loop unroll(full)
        for (int w = 0; w < WIDTH; w++) scale[w] = permute(scales[w], index);
        block.units(codes + (begin + done) * bits_of(CODE) / 8, layout.row_bytes, scale, begin + done, acc);
      }
    }
    for (; done < columns; done += C::kPerBlock) {
      const I index = scale_index<C::kPerLane>(layout.shift, static_cast<int>(done / C::kPerBlock));
      U words[WIDTH];
      F scale[WIDTH];
#pragma clang loop unroll(full)
      for (int w = 0; w < WIDTH; w++) {
        const uint8_t* source = codes + w * layout.row_bytes + (begin + done) * bits_of(CODE) / 8;
        words[w] = C::block(source, (columns - done) * bits_of(CODE) / 8);
        scale[w] = permute(scales[w], index);
      }
      block(words, scale, begin + done, acc);
    }
  }
  store_sums<ROWS, WIDTH>(acc, y + row * stride + n, stride);
}
