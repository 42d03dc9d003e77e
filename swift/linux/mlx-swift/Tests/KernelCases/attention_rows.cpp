// Attention by the table of kernels and in float64.
#include "attention_rows.h"

#include <algorithm>

namespace rmx::cpu::cases {

KeyBlock HeadKeys::block(int64_t first, int count) const {
  const int size = bytes_of(keys->element());
  return {
      static_cast<const char*>(keys->data()) + (key_first + first * key_stride) * size,
      static_cast<const char*>(values->data()) + (value_first + first * value_stride) * size,
      key_stride, value_stride, keys->element(), count};
}

Queries::Queries(const Kernels& kernel, const float* queries, int rows, int head_dim, int value_dim, float scale)
    : kernel_(kernel), rows_(rows), head_dim_(head_dim), value_dim_(value_dim),
      queries_(rows * kernel.padded(head_dim) * 4), largest_(rows * 4), total_(rows * 4),
      values_(rows * kernel.padded(value_dim) * 4), weights_(rows * kKeyBlock * 4),
      widened_(kernel.lanes * kernel.padded(head_dim) * 4) {
  const int64_t width = kernel.padded(head_dim);
  std::fill_n(queries_.data<float>(), rows * width, 0.0f);
  for (int r = 0; r < rows; r++) {
    for (int d = 0; d < head_dim; d++) queries_.data<float>()[r * width + d] = queries[r * head_dim + d] * scale;
  }
  std::fill_n(largest_.data<float>(), rows, -std::numeric_limits<float>::infinity());
  std::fill_n(total_.data<float>(), rows, 0.0f);
  std::fill_n(values_.data<float>(), rows * kernel.padded(value_dim), 0.0f);
}

void Queries::attend(
    const HeadKeys& head, int block, const std::vector<int>& visible, const std::vector<float>* mask) {
  const int start = block * kKeyBlock;
  const int most = *std::max_element(visible.begin(), visible.end());
  const int count = std::min(kKeyBlock, most - start);
  std::vector<int> seen(rows_);
  for (int r = 0; r < rows_; r++) seen[r] = std::clamp(visible[r] - start, 0, count);
  const Exact added(rows_ * kKeyBlock * 4);
  if (mask) {
    const int64_t keys = static_cast<int64_t>(mask->size()) / rows_;
    for (int r = 0; r < rows_; r++) {
      std::copy_n(mask->data() + r * keys + start, count, added.data<float>() + r * kKeyBlock);
    }
  }
  const AttentionTile tile = {
      rows_, head_dim_, value_dim_, queries_.data<float>(), largest_.data<float>(), total_.data<float>(),
      values_.data<float>(), weights_.data<float>(), widened_.data<float>()};
  kernel_.attend(tile, head.block(start, count), seen.data(), {mask ? added.data<float>() : nullptr, kKeyBlock});
}

void Queries::merge(const Queries& later) {
  const int64_t width = kernel_.padded(value_dim_);
  for (int r = 0; r < rows_; r++) {
    kernel_.merge(
        value_dim_, largest_.data<float>() + r, total_.data<float>() + r, values_.data<float>() + r * width,
        later.largest_.data<float>()[r], later.total_.data<float>()[r], later.values_.data<float>() + r * width);
  }
}

std::vector<float> Queries::finish(const float* sink) const {
  std::vector<float> out(static_cast<size_t>(rows_) * value_dim_);
  for (int r = 0; r < rows_; r++) {
    const Exact row(value_dim_ * 4);
    kernel_.finish(
        value_dim_, largest_.data<float>()[r], total_.data<float>()[r],
        values_.data<float>() + r * kernel_.padded(value_dim_), sink, row.data<float>());
    std::copy_n(row.data<float>(), value_dim_, out.data() + r * value_dim_);
  }
  return out;
}

std::vector<float> attend_all(
    const Kernels& kernel, const HeadKeys& head, const float* queries, const std::vector<int>& visible, float scale,
    const float* sink, const std::vector<float>* mask) {
  const int most = *std::max_element(visible.begin(), visible.end());
  Queries state(kernel, queries, static_cast<int>(visible.size()), head.head_dim, head.value_dim, scale);
  for (int block = 0; block * kKeyBlock < most; block++) state.attend(head, block, visible, mask);
  return state.finish(sink);
}

AttentionReference attention_reference(
    const Kernels& kernel, const HeadKeys& head, const float* query, int visible, float scale, const float* sink,
    const float* mask) {
  std::vector<double> scores(visible);
  double reach = 0, top = -1e300, least = 1e300;
  for (int key = 0; key < visible; key++) {
    double magnitude = 0;
    for (int d = 0; d < head.head_dim; d++) {
      const double term = static_cast<double>(query[d]) * scale * head.key(key, d);
      scores[key] += term;
      magnitude += std::fabs(term);
    }
    if (mask) scores[key] += mask[key];
    if (std::isinf(scores[key])) continue;
    reach = std::max(reach, magnitude + (mask ? std::fabs(static_cast<double>(mask[key])) : 0));
    top = std::max(top, scores[key]);
    least = std::min(least, scores[key]);
  }
  if (sink) {
    top = std::max(top, static_cast<double>(*sink));
    least = std::min(least, static_cast<double>(*sink));
  }
  double total = sink ? std::exp(*sink - top) : 0;
  for (double& score : scores) total += score = std::exp(score - top);
  const double blocks = (visible + kKeyBlock - 1) / kKeyBlock;
  const double per_score = (head.head_dim + kernel.lanes - 1) / kernel.lanes + log2_of(kernel.lanes) + 4;
  const double of_weight = roundings(per_score) * reach + kUnit * (2 * (top - least) + 7 * blocks + 6);
  const double relative = std::expm1(2 * of_weight + kUnit * (kKeyBlock + 32));
  AttentionReference out;
  for (int d = 0; d < head.value_dim; d++) {
    double sum = 0, size = 0, most = 0;
    for (int key = 0; key < visible; key++) {
      const double value = head.value(key, d);
      sum += scores[key] * value;
      size += scores[key] * std::fabs(value);
      most = std::max(most, std::fabs(value));
    }
    out.exact.push_back(sum / total);
    // Weights below e^-87 are zero.
    out.allowed.push_back(relative * size / total + visible * most * 0x1p-124);
  }
  return out;
}

}  // namespace rmx::cpu::cases
