// Ops that go straight to libmlx: first those of a known shape, from the tables of cmlx.h, then the others.
#include "guard.h"

namespace mx = mlx::core;
using namespace cmlx;

#define DEFINE_UNARY(f)                          \
  cmlx_array cmlx_##f(cmlx_array a, cmlx_stream s) { \
    return make([&] { return mx::f(in(a), stream(s)); }); \
  }
#define DEFINE_BINARY(f)                                           \
  cmlx_array cmlx_##f(cmlx_array a, cmlx_array b, cmlx_stream s) { \
    return make([&] { return mx::f(in(a), in(b), stream(s)); });   \
  }
#define DEFINE_REDUCE(f)                                                                                 \
  cmlx_array cmlx_##f(cmlx_array a, const int32_t *axes, size_t count, bool keepdims, cmlx_stream s) {   \
    return make([&] { return mx::f(in(a), ints(axes, count), keepdims, stream(s)); });                   \
  }                                                                                                      \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, cmlx_stream s) {                                \
    return make([&] { return mx::f(in(a), keepdims, stream(s)); });                                      \
  }
#define DEFINE_ARG_REDUCE(f)                                                       \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, bool keepdims, cmlx_stream s) {  \
    return make([&] { return mx::f(in(a), axis, keepdims, stream(s)); });          \
  }                                                                                \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, cmlx_stream s) {          \
    return make([&] { return mx::f(in(a), keepdims, stream(s)); });                \
  }
#define DEFINE_VARIANCE(f)                                                                                             \
  cmlx_array cmlx_##f(cmlx_array a, const int32_t *axes, size_t count, bool keepdims, int32_t ddof, cmlx_stream s) {   \
    return make([&] { return mx::f(in(a), ints(axes, count), keepdims, ddof, stream(s)); });                           \
  }                                                                                                                    \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, int32_t ddof, cmlx_stream s) {                                \
    return make([&] { return mx::f(in(a), keepdims, ddof, stream(s)); });                                              \
  }
#define DEFINE_SCAN(f)                                                                             \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, bool reverse, bool inclusive, cmlx_stream s) {   \
    return make([&] { return mx::f(in(a), axis, reverse, inclusive, stream(s)); });                \
  }
#define DEFINE_SORT(f)                                              \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, cmlx_stream s) {  \
    return make([&] { return mx::f(in(a), axis, stream(s)); });     \
  }                                                                 \
  cmlx_array cmlx_##f##_flat(cmlx_array a, cmlx_stream s) {         \
    return make([&] { return mx::f(in(a), stream(s)); });           \
  }
#define DEFINE_SELECT(f)                                                       \
  cmlx_array cmlx_##f(cmlx_array a, int32_t k, int32_t axis, cmlx_stream s) {  \
    return make([&] { return mx::f(in(a), k, axis, stream(s)); });             \
  }                                                                            \
  cmlx_array cmlx_##f##_flat(cmlx_array a, int32_t k, cmlx_stream s) {         \
    return make([&] { return mx::f(in(a), k, stream(s)); });                   \
  }
#define DEFINE_DIAGONAL(f)                                       \
  cmlx_array cmlx_##f(cmlx_array a, int32_t k, cmlx_stream s) {  \
    return make([&] { return mx::f(in(a), k, stream(s)); });     \
  }

CMLX_UNARY(DEFINE_UNARY)
CMLX_BINARY(DEFINE_BINARY)
CMLX_REDUCE(DEFINE_REDUCE)
CMLX_ARG_REDUCE(DEFINE_ARG_REDUCE)
CMLX_VARIANCE(DEFINE_VARIANCE)
CMLX_SCAN(DEFINE_SCAN)
CMLX_SORT(DEFINE_SORT)
CMLX_SELECT(DEFINE_SELECT)
CMLX_DIAGONAL(DEFINE_DIAGONAL)

// ---- new arrays -----------------------------------------------------------------------------------------------------

cmlx_array cmlx_arange(double start, double stop, double step, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::arange(start, stop, step, dtype(type), stream(s)); });
}
cmlx_array cmlx_eye(int32_t n, int32_t m, int32_t k, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::eye(n, m, k, dtype(type), stream(s)); });
}
cmlx_array cmlx_full(const int32_t *lengths, size_t ndim, cmlx_array value, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::full(shape(lengths, ndim), in(value), dtype(type), stream(s)); });
}
cmlx_array cmlx_linspace(double start, double stop, int32_t count, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::linspace(start, stop, count, dtype(type), stream(s)); });
}
cmlx_array cmlx_tri(int32_t n, int32_t m, int32_t k, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::tri(n, m, k, dtype(type), stream(s)); });
}
cmlx_list cmlx_meshgrid(const cmlx_array *handles, size_t count, bool sparse, const char *indexing, cmlx_stream s) {
  return make_list([&] { return mx::meshgrid(arrays(handles, count), sparse, indexing, stream(s)); });
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

cmlx_array cmlx_astype(cmlx_array a, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::astype(in(a), dtype(type), stream(s)); });
}
cmlx_array cmlx_view(cmlx_array a, cmlx_dtype type, cmlx_stream s) {
  return make([&] { return mx::view(in(a), dtype(type), stream(s)); });
}
cmlx_array cmlx_contiguous(cmlx_array a, bool allow_col_major, cmlx_stream s) {
  return make([&] { return mx::contiguous(in(a), allow_col_major, stream(s)); });
}
cmlx_array cmlx_as_strided(cmlx_array a, const int32_t *lengths, size_t ndim, const int64_t *strides,
                           size_t stride_count, size_t offset, cmlx_stream s) {
  return make([&] {
    mx::Strides steps(strides, strides + stride_count);
    return mx::as_strided(in(a), shape(lengths, ndim), std::move(steps), offset, stream(s));
  });
}
cmlx_array cmlx_reshape(cmlx_array a, const int32_t *lengths, size_t ndim, cmlx_stream s) {
  return make([&] { return mx::reshape(in(a), shape(lengths, ndim), stream(s)); });
}
cmlx_array cmlx_flatten(cmlx_array a, int32_t start, int32_t end, cmlx_stream s) {
  return make([&] { return mx::flatten(in(a), start, end, stream(s)); });
}
cmlx_array cmlx_unflatten(cmlx_array a, int32_t axis, const int32_t *lengths, size_t ndim, cmlx_stream s) {
  return make([&] { return mx::unflatten(in(a), axis, shape(lengths, ndim), stream(s)); });
}
cmlx_array cmlx_transpose_axes(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s) {
  return make([&] { return mx::transpose(in(a), ints(axes, count), stream(s)); });
}
cmlx_array cmlx_swapaxes(cmlx_array a, int32_t axis1, int32_t axis2, cmlx_stream s) {
  return make([&] { return mx::swapaxes(in(a), axis1, axis2, stream(s)); });
}
cmlx_array cmlx_moveaxis(cmlx_array a, int32_t source, int32_t destination, cmlx_stream s) {
  return make([&] { return mx::moveaxis(in(a), source, destination, stream(s)); });
}
cmlx_array cmlx_expand_dims(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s) {
  return make([&] { return mx::expand_dims(in(a), ints(axes, count), stream(s)); });
}
cmlx_array cmlx_squeeze(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s) {
  return make([&] { return mx::squeeze(in(a), ints(axes, count), stream(s)); });
}
cmlx_array cmlx_squeeze_all(cmlx_array a, cmlx_stream s) {
  return make([&] { return mx::squeeze(in(a), stream(s)); });
}
cmlx_array cmlx_broadcast_to(cmlx_array a, const int32_t *lengths, size_t ndim, cmlx_stream s) {
  return make([&] { return mx::broadcast_to(in(a), shape(lengths, ndim), stream(s)); });
}
cmlx_list cmlx_broadcast_arrays(const cmlx_array *handles, size_t count, cmlx_stream s) {
  return make_list([&] { return mx::broadcast_arrays(arrays(handles, count), stream(s)); });
}
cmlx_array cmlx_concatenate(const cmlx_array *handles, size_t count, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::concatenate(arrays(handles, count), axis, stream(s)); });
}
cmlx_array cmlx_stack(const cmlx_array *handles, size_t count, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::stack(arrays(handles, count), axis, stream(s)); });
}
cmlx_list cmlx_split(cmlx_array a, int32_t parts, int32_t axis, cmlx_stream s) {
  return make_list([&] { return mx::split(in(a), parts, axis, stream(s)); });
}
cmlx_list cmlx_split_at(cmlx_array a, const int32_t *indices, size_t count, int32_t axis, cmlx_stream s) {
  return make_list([&] { return mx::split(in(a), shape(indices, count), axis, stream(s)); });
}
cmlx_array cmlx_repeat(cmlx_array a, int32_t count, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::repeat(in(a), count, axis, stream(s)); });
}
cmlx_array cmlx_repeat_flat(cmlx_array a, int32_t count, cmlx_stream s) {
  return make([&] { return mx::repeat(in(a), count, stream(s)); });
}
cmlx_array cmlx_tile(cmlx_array a, const int32_t *repetitions, size_t count, cmlx_stream s) {
  return make([&] { return mx::tile(in(a), ints(repetitions, count), stream(s)); });
}
cmlx_array cmlx_roll(cmlx_array a, int32_t shift, const int32_t *axes, size_t count, cmlx_stream s) {
  return make([&] { return mx::roll(in(a), shift, ints(axes, count), stream(s)); });
}
cmlx_array cmlx_roll_flat(cmlx_array a, int32_t shift, cmlx_stream s) {
  return make([&] { return mx::roll(in(a), shift, stream(s)); });
}
cmlx_array cmlx_pad(cmlx_array a, const int32_t *low, const int32_t *high, size_t ndim, cmlx_array value,
                    const char *mode, cmlx_stream s) {
  return make([&] {
    std::vector<std::pair<int, int>> widths;
    for (size_t i = 0; i < ndim; i++) widths.emplace_back(low[i], high[i]);
    return mx::pad(in(a), widths, in(value), mode, stream(s));
  });
}
cmlx_list cmlx_depends(const cmlx_array *inputs, size_t input_count, const cmlx_array *dependencies, size_t count) {
  return make_list([&] { return mx::depends(arrays(inputs, input_count), arrays(dependencies, count)); });
}

// ---- slices and indices ---------------------------------------------------------------------------------------------

cmlx_array cmlx_slice(cmlx_array a, const int32_t *starts, const int32_t *stops, const int32_t *strides, size_t ndim,
                      cmlx_stream s) {
  return make([&] {
    return mx::slice(in(a), shape(starts, ndim), shape(stops, ndim), shape(strides, ndim), stream(s));
  });
}
cmlx_array cmlx_slice_update(cmlx_array a, cmlx_array update, const int32_t *starts, const int32_t *stops,
                             const int32_t *strides, size_t ndim, cmlx_stream s) {
  return make([&] {
    return mx::slice_update(in(a), in(update), shape(starts, ndim), shape(stops, ndim), shape(strides, ndim),
                            stream(s));
  });
}
cmlx_array cmlx_gather(cmlx_array a, const cmlx_array *indices, size_t count, const int32_t *axes, size_t axis_count,
                       const int32_t *slice_sizes, size_t slice_count, cmlx_stream s) {
  return make([&] {
    return mx::gather(in(a), arrays(indices, count), ints(axes, axis_count), shape(slice_sizes, slice_count),
                      stream(s));
  });
}
cmlx_array cmlx_scatter(cmlx_array a, const cmlx_array *indices, size_t count, cmlx_array updates, const int32_t *axes,
                        size_t axis_count, cmlx_stream s) {
  return make([&] {
    return mx::scatter(in(a), arrays(indices, count), in(updates), ints(axes, axis_count), stream(s));
  });
}
cmlx_array cmlx_take(cmlx_array a, cmlx_array indices, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::take(in(a), in(indices), axis, stream(s)); });
}
cmlx_array cmlx_take_flat(cmlx_array a, cmlx_array indices, cmlx_stream s) {
  return make([&] { return mx::take(in(a), in(indices), stream(s)); });
}
cmlx_array cmlx_take_along_axis(cmlx_array a, cmlx_array indices, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::take_along_axis(in(a), in(indices), axis, stream(s)); });
}
cmlx_array cmlx_put_along_axis(cmlx_array a, cmlx_array indices, cmlx_array values, int32_t axis, cmlx_stream s) {
  return make([&] { return mx::put_along_axis(in(a), in(indices), in(values), axis, stream(s)); });
}
cmlx_array cmlx_where(cmlx_array condition, cmlx_array a, cmlx_array b, cmlx_stream s) {
  return make([&] { return mx::where(in(condition), in(a), in(b), stream(s)); });
}

// ---- numbers --------------------------------------------------------------------------------------------------------

cmlx_array cmlx_clip(cmlx_array a, cmlx_array low, cmlx_array high, cmlx_stream s) {
  return make([&] { return mx::clip(in(a), maybe(low), maybe(high), stream(s)); });
}
cmlx_array cmlx_round(cmlx_array a, int32_t decimals, cmlx_stream s) {
  return make([&] { return mx::round(in(a), decimals, stream(s)); });
}
cmlx_array cmlx_softmax(cmlx_array a, const int32_t *axes, size_t count, bool precise, cmlx_stream s) {
  return make([&] { return mx::softmax(in(a), ints(axes, count), precise, stream(s)); });
}
cmlx_array cmlx_softmax_all(cmlx_array a, bool precise, cmlx_stream s) {
  return make([&] { return mx::softmax(in(a), precise, stream(s)); });
}
cmlx_array cmlx_nan_to_num(cmlx_array a, float nan, cmlx_optional_float inf, cmlx_optional_float neginf,
                           cmlx_stream s) {
  return make([&] { return mx::nan_to_num(in(a), nan, maybe(inf), maybe(neginf), stream(s)); });
}
cmlx_array cmlx_allclose(cmlx_array a, cmlx_array b, double rtol, double atol, bool equal_nan, cmlx_stream s) {
  return make([&] { return mx::allclose(in(a), in(b), rtol, atol, equal_nan, stream(s)); });
}
cmlx_array cmlx_isclose(cmlx_array a, cmlx_array b, double rtol, double atol, bool equal_nan, cmlx_stream s) {
  return make([&] { return mx::isclose(in(a), in(b), rtol, atol, equal_nan, stream(s)); });
}
cmlx_array cmlx_array_equal(cmlx_array a, cmlx_array b, bool equal_nan, cmlx_stream s) {
  return make([&] { return mx::array_equal(in(a), in(b), equal_nan, stream(s)); });
}

// ---- products -------------------------------------------------------------------------------------------------------

cmlx_array cmlx_addmm(cmlx_array c, cmlx_array a, cmlx_array b, float alpha, float beta, cmlx_stream s) {
  return make([&] { return mx::addmm(in(c), in(a), in(b), alpha, beta, stream(s)); });
}
cmlx_array cmlx_einsum(const char *subscripts, const cmlx_array *operands, size_t count, cmlx_stream s) {
  return make([&] { return mx::einsum(subscripts, arrays(operands, count), stream(s)); });
}
cmlx_array cmlx_tensordot(cmlx_array a, cmlx_array b, int32_t axes, cmlx_stream s) {
  return make([&] { return mx::tensordot(in(a), in(b), axes, stream(s)); });
}
cmlx_array cmlx_gather_mm(cmlx_array a, cmlx_array b, cmlx_array lhs_indices, cmlx_array rhs_indices, bool sorted,
                          cmlx_stream s) {
  return make([&] { return mx::gather_mm(in(a), in(b), maybe(lhs_indices), maybe(rhs_indices), sorted, stream(s)); });
}
cmlx_array cmlx_hadamard_transform(cmlx_array a, cmlx_optional_float scale, cmlx_stream s) {
  return make([&] { return mx::hadamard_transform(in(a), maybe(scale), stream(s)); });
}
cmlx_array cmlx_conv(cmlx_array input, cmlx_array weight, const int32_t *stride, const int32_t *padding,
                     const int32_t *dilation, size_t dimensions, int32_t groups, cmlx_stream s) {
  return make([&] {
    auto spread = ints(padding, dimensions);
    return mx::conv_general(in(input), in(weight), ints(stride, dimensions), spread, spread,
                            ints(dilation, dimensions), {}, groups, false, stream(s));
  });
}
cmlx_list cmlx_quantize(cmlx_array w, cmlx_optional_int group_size, cmlx_optional_int bits, const char *mode,
                        cmlx_array global_scale, cmlx_stream s) {
  return make_list([&] {
    return mx::quantize(in(w), maybe(group_size), maybe(bits), mode, maybe(global_scale), stream(s));
  });
}
cmlx_array cmlx_dequantize(cmlx_array w, cmlx_array scales, cmlx_array biases, cmlx_optional_int group_size,
                           cmlx_optional_int bits, const char *mode, cmlx_array global_scale, const cmlx_dtype *type,
                           cmlx_stream s) {
  return make([&] {
    auto target = type == nullptr ? std::nullopt : std::make_optional(dtype(*type));
    return mx::dequantize(in(w), in(scales), maybe(biases), maybe(group_size), maybe(bits), mode, maybe(global_scale),
                          target, stream(s));
  });
}
cmlx_array cmlx_qqmm(cmlx_array x, cmlx_array w, cmlx_array w_scales, cmlx_optional_int group_size,
                     cmlx_optional_int bits, const char *mode, cmlx_array global_scale_x, cmlx_array global_scale_w,
                     cmlx_stream s) {
  return make([&] {
    return mx::qqmm(in(x), in(w), maybe(w_scales), maybe(group_size), maybe(bits), mode, maybe(global_scale_x),
                    maybe(global_scale_w), stream(s));
  });
}
