// The routed ops: our CPU primitive where it supports the case, else libmlx's own op.
#include "route.h"

#include "cpu/ops.h"
#include "guard.h"

namespace mx = mlx::core;
namespace cpu = rmx::cpu;

namespace cmlx::route {

array quantized_matmul(const array &x, const array &w, const array &scales, const OptionalArray &biases, bool transpose,
                       const Quantization &q, Stream s) {
  auto ours = cpu::quantized_matmul(x, w, scales, biases, transpose, q.group_size, q.bits, q.mode, s);
  if (ours) return *ours;
  return mx::quantized_matmul(x, w, scales, biases, transpose, q.group_size, q.bits, q.mode, s);
}

array matmul(const array &a, const array &b, Stream s) {
  if (auto ours = cpu::matmul(a, b, s)) return *ours;
  return mx::matmul(a, b, s);
}

array gather_qmm(const array &x, const array &w, const array &scales, const OptionalArray &biases,
                 const OptionalArray &lhs_indices, const OptionalArray &rhs_indices, bool transpose,
                 const Quantization &q, bool sorted, Stream s) {
  auto ours = cpu::gather_qmm(
      x, w, scales, biases, lhs_indices, rhs_indices, transpose, q.group_size, q.bits, q.mode, s);
  if (ours) return *ours;
  return mx::gather_qmm(x, w, scales, biases, lhs_indices, rhs_indices, transpose, q.group_size, q.bits, q.mode, sorted,
                        s);
}

array rms_norm(const array &x, const OptionalArray &weight, float eps, Stream s) {
  if (auto ours = cpu::rms_norm(x, weight, eps, s)) return *ours;
  return mx::fast::rms_norm(x, weight, eps, s);
}

array layer_norm(const array &x, const OptionalArray &weight, const OptionalArray &bias, float eps, Stream s) {
  return mx::fast::layer_norm(x, weight, bias, eps, s);
}

array rope(const array &x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
           const OptionalArray &freqs, Stream s) {
  if (auto ours = cpu::rope(x, dims, traditional, base, scale, offset, std::nullopt, freqs, s)) return *ours;
  return mx::fast::rope(x, dims, traditional, base, scale, offset, freqs, s);
}

array rope(const array &x, int dims, bool traditional, std::optional<float> base, float scale, const array &offset,
           const OptionalArray &freqs, Stream s) {
  if (auto ours = cpu::rope(x, dims, traditional, base, scale, 0, offset, freqs, s)) return *ours;
  return mx::fast::rope(x, dims, traditional, base, scale, offset, freqs, s);
}

array scaled_dot_product_attention(const array &queries, const array &keys, const array &values, float scale,
                                   const std::string &mask_mode, const OptionalArray &mask, const OptionalArray &sinks,
                                   Stream s) {
  auto ours = cpu::scaled_dot_product_attention(queries, keys, values, scale, mask_mode, mask, sinks, s);
  if (ours) return *ours;
  return mx::fast::scaled_dot_product_attention(queries, keys, values, scale, mask_mode, mask, sinks, s);
}

}  // namespace cmlx::route

using namespace cmlx;

cmlx_array cmlx_quantized_matmul(cmlx_array x, cmlx_array w, cmlx_array scales, cmlx_array biases, bool transpose,
                                 cmlx_optional_int group_size, cmlx_optional_int bits, const char *mode,
                                 cmlx_stream s) {
  return make([&] {
    route::Quantization quantization{maybe(group_size), maybe(bits), mode};
    return route::quantized_matmul(in(x), in(w), in(scales), maybe(biases), transpose, quantization, stream(s));
  });
}

cmlx_array cmlx_matmul(cmlx_array a, cmlx_array b, cmlx_stream s) {
  return make([&] { return route::matmul(in(a), in(b), stream(s)); });
}

cmlx_array cmlx_gather_qmm(cmlx_array x, cmlx_array w, cmlx_array scales, cmlx_array biases, cmlx_array lhs_indices,
                           cmlx_array rhs_indices, bool transpose, cmlx_optional_int group_size, cmlx_optional_int bits,
                           const char *mode, bool sorted, cmlx_stream s) {
  return make([&] {
    route::Quantization quantization{maybe(group_size), maybe(bits), mode};
    return route::gather_qmm(in(x), in(w), in(scales), maybe(biases), maybe(lhs_indices), maybe(rhs_indices), transpose,
                             quantization, sorted, stream(s));
  });
}

cmlx_array cmlx_rms_norm(cmlx_array x, cmlx_array weight, float eps, cmlx_stream s) {
  return make([&] { return route::rms_norm(in(x), maybe(weight), eps, stream(s)); });
}

cmlx_array cmlx_layer_norm(cmlx_array x, cmlx_array weight, cmlx_array bias, float eps, cmlx_stream s) {
  return make([&] { return route::layer_norm(in(x), maybe(weight), maybe(bias), eps, stream(s)); });
}

cmlx_array cmlx_rope(cmlx_array x, int32_t dims, bool traditional, cmlx_optional_float base, float scale,
                     int32_t offset, cmlx_array freqs, cmlx_stream s) {
  return make([&] {
    return route::rope(in(x), dims, traditional, maybe(base), scale, offset, maybe(freqs), stream(s));
  });
}

cmlx_array cmlx_rope_dynamic(cmlx_array x, int32_t dims, bool traditional, cmlx_optional_float base, float scale,
                             cmlx_array offset, cmlx_array freqs, cmlx_stream s) {
  return make([&] {
    return route::rope(in(x), dims, traditional, maybe(base), scale, in(offset), maybe(freqs), stream(s));
  });
}

cmlx_array cmlx_scaled_dot_product_attention(cmlx_array queries, cmlx_array keys, cmlx_array values, float scale,
                                             const char *mask_mode, cmlx_array mask, cmlx_array sinks, cmlx_stream s) {
  return make([&] {
    return route::scaled_dot_product_attention(in(queries), in(keys), in(values), scale, mask_mode, maybe(mask),
                                               maybe(sinks), stream(s));
  });
}
