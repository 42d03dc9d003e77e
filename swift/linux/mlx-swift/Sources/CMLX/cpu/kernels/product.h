// Shares a product out over tiles of rows and weight rows, so that a weight tile is read and unpacked once for several
// rows and the activations of a row block stay in the first cache.
#pragma once

/// Rows that one tile takes at most.
constexpr int kTileRows = RMX_AVX512 ? 6 : 3;
/// Weight rows between two changes of the row block: their codes stay in the second cache.
constexpr int64_t kPanel = 64;

enum class Product { dense, exact, fast };

template <Product KIND, int CODE, int ROWS, int WIDTH>
RMX_INLINE void tile(
    const Weight& weight, const Layout& layout, const Activations& x, int64_t row, int64_t n, float* y, int64_t stride) {
  if constexpr (KIND == Product::dense) {
    dense_tile<ROWS, WIDTH>(weight, layout, x, row, n, y, stride);
  } else if constexpr (KIND == Product::exact) {
    quantized_tile<CODE, ROWS, WIDTH, ExactBlock<CODE, ROWS, WIDTH>>(weight, layout, x, row, n, y, stride);
  } else {
    quantized_tile<CODE, ROWS, WIDTH, FastBlock<CODE, ROWS, WIDTH>>(weight, layout, x, row, n, y, stride);
  }
}

/// How far ahead of a tile its weights are asked for: what memory delivers in a few hundred nanoseconds.
constexpr int64_t kAheadBytes = 4096;

RMX_INLINE void prefetch(const char* at, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i);
}

/// Asks for the weights that lie kAheadBytes of codes behind a tile. The hardware follows the rows of a tile badly:
/// they are read side by side, and a row is a few lines long. Addresses behind the end are harmless.
class Prefetch {
 public:
  Prefetch(const Weight& weight, const Layout& layout) : weight_(weight), row_bytes_(layout.row_bytes) {
    group_bytes_ = layout.groups * element_size(weight.scale);
    ahead_ = row_bytes_ ? kAheadBytes * group_bytes_ / row_bytes_ : 0;
  }
  RMX_INLINE void operator()(int64_t n, int width) const {
    prefetch(static_cast<const char*>(weight_.codes) + n * row_bytes_ + kAheadBytes, width * row_bytes_);
    prefetch(static_cast<const char*>(weight_.scales) + n * group_bytes_ + ahead_, width * group_bytes_);
    if (!weight_.biases) return;
    prefetch(static_cast<const char*>(weight_.biases) + n * group_bytes_ + ahead_, width * group_bytes_);
  }

 private:
  const Weight& weight_;
  int64_t row_bytes_, group_bytes_, ahead_;
};

template <Product KIND, int CODE, int ROWS, int WIDTH>
void panel(
    const Weight& weight, const Layout& layout, const Activations& x, int64_t row, int64_t n, int64_t end, float* y,
    int64_t stride) {
  const Prefetch ahead(weight, layout);
  for (; n + WIDTH <= end; n += WIDTH) {
    // Later rows of a call find the weights in the cache.
    if (KIND != Product::dense && row == 0) ahead(n, WIDTH);
    tile<KIND, CODE, ROWS, WIDTH>(weight, layout, x, row, n, y, stride);
  }
  for (; n < end; n++) tile<KIND, CODE, ROWS, 1>(weight, layout, x, row, n, y, stride);
}

/// Runs `count` rows (at most kTileRows) from `row` on.
template <Product KIND, int CODE>
void rows_panel(
    const Weight& weight, const Layout& layout, const Activations& x, int64_t row, int64_t count, int64_t n, int64_t end,
    float* y, int64_t stride) {
  constexpr int wide = RMX_AVX512 ? 4 : 2, narrow = RMX_AVX512 ? 2 : 1;
  switch (count) {
    case 1: return panel<KIND, CODE, 1, wide>(weight, layout, x, row, n, end, y, stride);
    case 2: return panel<KIND, CODE, 2, wide>(weight, layout, x, row, n, end, y, stride);
    case 3: return panel<KIND, CODE, 3, narrow>(weight, layout, x, row, n, end, y, stride);
#if RMX_AVX512
    case 4: return panel<KIND, CODE, 4, narrow>(weight, layout, x, row, n, end, y, stride);
    case 5: return panel<KIND, CODE, 5, narrow>(weight, layout, x, row, n, end, y, stride);
    case 6: return panel<KIND, CODE, 6, narrow>(weight, layout, x, row, n, end, y, stride);
#endif
    default: return;
  }
}

template <Product KIND, int CODE>
void product_of(const Weight& weight, const Activations& x, int64_t begin, int64_t end, float* y, int64_t stride) {
  const Layout layout(weight, KIND == Product::fast ? Arithmetic::fast : Arithmetic::exact);
  const int64_t blocks = (x.rows + kTileRows - 1) / kTileRows;
  for (int64_t n = begin; n < end; n += kPanel) {
    const int64_t stop = n + kPanel < end ? n + kPanel : end;
    for (int64_t block = 0; block < blocks; block++) {
      // Even shares: 8 rows are 4 + 4 rather than 6 + 2.
      const int64_t row = x.rows * block / blocks, next = x.rows * (block + 1) / blocks;
      rows_panel<KIND, CODE>(weight, layout, x, row, next - row, n, stop, y, stride);
    }
  }
}

template <Product KIND>
void product_by_code(
    const Weight& weight, const Activations& x, int64_t begin, int64_t end, float* y, int64_t stride) {
  if (weight.format == Format::mxfp4) return product_of<KIND, kMxfp4>(weight, x, begin, end, y, stride);
  if constexpr (KIND == Product::exact) {
    if (weight.format == Format::mxfp8) return product_of<KIND, kMxfp8>(weight, x, begin, end, y, stride);
  }
  switch (weight.bits) {
    case 2: return product_of<KIND, 2>(weight, x, begin, end, y, stride);
    case 3: return product_of<KIND, 3>(weight, x, begin, end, y, stride);
    case 4: return product_of<KIND, 4>(weight, x, begin, end, y, stride);
    case 5: return product_of<KIND, 5>(weight, x, begin, end, y, stride);
    case 6: return product_of<KIND, 6>(weight, x, begin, end, y, stride);
    case 8: return product_of<KIND, 8>(weight, x, begin, end, y, stride);
    default: return;
  }
}

inline void product(
    const Weight& weight, Arithmetic arithmetic, const Activations& x, int64_t begin, int64_t end, float* y,
    int64_t stride) {
  if (weight.bits == 0) return product_of<Product::dense, 0>(weight, x, begin, end, y, stride);
  if (arithmetic_of(weight, arithmetic) == Arithmetic::fast) {
    return product_by_code<Product::fast>(weight, x, begin, end, y, stride);
  }
  return product_by_code<Product::exact>(weight, x, begin, end, y, stride);
}
