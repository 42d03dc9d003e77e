// Softmax attention over one block of keys, for a tile of queries that share a key head.
//
// Each block makes its own largest score, sum of weights and weighted values, and these are merged into the running
// state block after block. Blocks lie at absolute positions, so how many rows share a call, where a prompt was cut and
// how threads split the work change no bit: a partial state computed elsewhere merges to the same numbers. Score: lane
// i sums head elements i, i + L, ..., then the tree. Weighted values: keys in order.
#pragma once

inline int64_t padded(int64_t width) { return round_up(width, L); }

/// Scores of L keys (those past `count` repeat the last one) for one query.
template <int VECTORS>
RMX_INLINE F scores_of(const float* query, const float* keys, int64_t stride, int count, int head_dim) {
  F part[L] = {};
  if (VECTORS > 0 && count >= L) {
#pragma clang loop unroll(full)
    for (int d = 0; d < VECTORS; d++) {
      const F q = load<F>(query + d * L);
#pragma clang loop unroll(full)
      for (int i = 0; i < L; i++) part[i] = fma(q, load<F>(keys + i * stride + d * L), part[i]);
    }
    return sum_each<L>(part);
  }
  for (int d = 0; d < head_dim; d += L) {
    const F q = load<F>(query + d);
    for (int i = 0; i < L; i++) {
      const float* key = keys + (i < count ? i : count - 1) * stride;
      part[i] = fma(q, load_elements(Element::f32, key, d, head_dim - d), part[i]);
    }
  }
  return sum_each<L>(part);
}

template <int VECTORS>
void scores(const AttentionTile& tile, const KeyBlock& block, const int* visible, const MaskBlock& mask) {
  const int64_t width = padded(tile.head_dim);
  I lane;
  for (int i = 0; i < L; i++) lane[i] = i;
  for (int first = 0; first < block.count; first += L) {
    const int count = block.count - first < L ? block.count - first : L;
    const float* keys = static_cast<const float*>(block.keys) + first * block.key_stride;
    int64_t stride = block.key_stride;
    if (block.element != Element::f32) {
      const uint16_t* half = static_cast<const uint16_t*>(block.keys) + first * block.key_stride;
      for (int i = 0; i < count; i++) {
        widen(block.element, half + i * block.key_stride, tile.head_dim, tile.widened + i * width);
      }
      keys = tile.widened;
      stride = width;
    }
    for (int r = 0; r < tile.rows; r++) {
      if (visible[r] <= first) continue;
      F score = scores_of<VECTORS>(tile.queries + r * width, keys, stride, count, tile.head_dim);
      if (mask.values) score += load_elements(Element::f32, mask.values, r * mask.stride + first, count);
      const I seen = first + lane < visible[r];
      const F hidden = splat(-__builtin_inff());
      score = (F)(((I)score & seen) | ((I)hidden & ~seen));
      store(tile.weights + r * kKeyBlock + first, score);
    }
  }
}

/// Turns a row of scores into weights, zeros behind them; returns the largest score and the sum of weights.
RMX_INLINE void soften(float* scores, int visible, float& top, float& total) {
  F peak = splat(-__builtin_inff());
  for (int i = 0; i < visible; i += L) peak = maximum(peak, load<F>(scores + i));
  top = largest(peak);
  F sums = zero();
  // A row that a mask hides whole has no largest score to subtract.
  const F offset = splat(top == -__builtin_inff() ? 0.0f : top);
  for (int i = 0; i < visible; i += L) {
    const F weight = exponential(load<F>(scores + i) - offset);
    store(scores + i, weight);
    sums += weight;
  }
  for (int i = (visible + L - 1) / L * L; i < kKeyBlock; i += L) store(scores + i, zero());
  total = sum(sums);
}

/// values[r] = sum over keys of weight * value, for ROWS rows, VECTORS vectors from element `at` on.
template <int ROWS, int VECTORS>
RMX_INLINE void weigh(
    const float* const (&weights)[ROWS], const int (&visible)[ROWS], const KeyBlock& block, int64_t at, int64_t left,
    float* const (&out)[ROWS]) {
  F acc[ROWS][VECTORS] = {};
  int keys = 0;
  for (int r = 0; r < ROWS; r++) keys = visible[r] > keys ? visible[r] : keys;
  for (int key = 0; key < keys; key++) {
    F value[VECTORS];
#pragma clang loop unroll(full)
    for (int v = 0; v < VECTORS; v++) {
      value[v] = load_elements(block.element, block.values, key * block.value_stride + at + v * L, left - v * L);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++) {
      const F weight = splat(weights[r][key]);
#pragma clang loop unroll(full)
      for (int v = 0; v < VECTORS; v++) acc[r][v] = fma(weight, value[v], acc[r][v]);
    }
  }
  for (int r = 0; r < ROWS; r++) {
    for (int v = 0; v < VECTORS; v++) store(out[r] + at + v * L, acc[r][v]);
  }
}

template <int ROWS>
void weigh_rows(const AttentionTile& tile, const KeyBlock& block, const int* rows, const int* visible, float* partial) {
  constexpr int kVectors = RMX_AVX512 ? 4 : 2;
  const int64_t width = padded(tile.value_dim);
  const float* weights[ROWS];
  int seen[ROWS];
  float* out[ROWS];
  for (int r = 0; r < ROWS; r++) {
    weights[r] = tile.weights + rows[r] * kKeyBlock;
    seen[r] = visible[rows[r]];
    out[r] = partial + r * width;
  }
  int64_t at = 0;
  for (; at + kVectors * L <= tile.value_dim; at += kVectors * L) {
    weigh<ROWS, kVectors>(weights, seen, block, at, tile.value_dim - at, out);
  }
  for (; at < tile.value_dim; at += L) weigh<ROWS, 1>(weights, seen, block, at, tile.value_dim - at, out);
}

inline void merge(
    int value_dim, float* top, float* total, float* values, float other_top, float other_total,
    const float* other_values) {
  const float peak = *top > other_top ? *top : other_top;
  if (peak == -__builtin_inff()) return;
  const F pair = exponential(F{*top - peak, other_top - peak});
  const F own = splat(pair[0]), other = splat(pair[1]);
  *top = peak;
  *total = *total * pair[0] + other_total * pair[1];
  for (int64_t d = 0; d < value_dim; d += L) {
    store(values + d, fma(load<F>(other_values + d), other, load<F>(values + d) * own));
  }
}

inline void attend(const AttentionTile& tile, const KeyBlock& block, const int* visible, const MaskBlock& mask) {
  constexpr int kRows = 4;
  switch (tile.head_dim) {
    case 64: scores<64 / L>(tile, block, visible, mask); break;
    case 128: scores<128 / L>(tile, block, visible, mask); break;
    default: scores<0>(tile, block, visible, mask); break;
  }
  const int64_t width = padded(tile.value_dim);
  alignas(64) float partial[kRows * kHeadDimMax];
  int rows[kRows];
  float top[kRows], total[kRows];
  int held = 0;
  for (int r = 0; r <= tile.rows; r++) {
    if (r < tile.rows && visible[r] > 0) {
      rows[held] = r;
      soften(tile.weights + r * kKeyBlock, visible[r], top[held], total[held]);
      held++;
    }
    if (held < kRows && r < tile.rows) continue;
    switch (held) {
      case 1: weigh_rows<1>(tile, block, rows, visible, partial); break;
      case 2: weigh_rows<2>(tile, block, rows, visible, partial); break;
      case 3: weigh_rows<3>(tile, block, rows, visible, partial); break;
      case 4: weigh_rows<4>(tile, block, rows, visible, partial); break;
      default: break;
    }
    for (int i = 0; i < held; i++) {
      merge(
          tile.value_dim, tile.largest + rows[i], tile.total + rows[i], tile.values + rows[i] * width, top[i], total[i],
          partial + i * width);
    }
    held = 0;
  }
}

inline void finish(int value_dim, float top, float total, const float* values, const float* sink, float* out) {
  F factor = splat(1.0f);
  if (sink) {
    const float peak = top > *sink ? top : *sink;
    const F pair = exponential(F{top - peak, *sink - peak});
    factor = splat(pair[0]);
    total = total * pair[0] + pair[1];
  }
  for (int64_t d = 0; d < value_dim; d += L) {
    const F value = load<F>(values + d) * factor / splat(total);
    store_partial(out + d, value, value_dim - d < L ? value_dim - d : L);
  }
}
