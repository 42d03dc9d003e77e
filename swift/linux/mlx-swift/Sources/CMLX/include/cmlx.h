// The C face of libmlx for the Swift module MLX: opaque handles, plain numbers, no exception ever crosses it.
//
// Names are those of the C++ functions in mlx/ops.h with the prefix cmlx_. A function that returns a handle returns
// NULL on failure, one that returns bool returns false; the reason is then in cmlx_last_error() of the same thread.
// Every handle that a function returns belongs to the caller. A NULL array argument means "none" where the comment says
// so and is an error elsewhere.
//
// A new op of a known shape is one name in a table below (and one Swift function); any other op is one declaration here
// and one body in ops.cpp.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmlx_cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One array: a node of a lazily evaluated graph, or data.
typedef struct cmlx_array_object *cmlx_array;
/// Several arrays, the result of one call.
typedef struct cmlx_list_object *cmlx_list;
/// Named arrays and text metadata: what a safetensors file holds.
typedef struct cmlx_archive_object *cmlx_archive;

/// A queue of work on a device. `device`: 0 CPU, 1 GPU. `index` below zero: the device is not there.
typedef struct cmlx_stream {
  int32_t index;
  int32_t device;
  int32_t device_index;
} cmlx_stream;

/// An int that may be absent.
typedef struct cmlx_optional_int {
  int32_t value;
  bool has_value;
} cmlx_optional_int;

/// A float that may be absent.
typedef struct cmlx_optional_float {
  float value;
  bool has_value;
} cmlx_optional_float;

/// Element types.
typedef enum cmlx_dtype {
  CMLX_BOOL,
  CMLX_UINT8,
  CMLX_UINT16,
  CMLX_UINT32,
  CMLX_UINT64,
  CMLX_INT8,
  CMLX_INT16,
  CMLX_INT32,
  CMLX_INT64,
  CMLX_FLOAT16,
  CMLX_FLOAT32,
  CMLX_FLOAT64,
  CMLX_BFLOAT16,
  CMLX_COMPLEX64,
} cmlx_dtype;

// ---- errors ---------------------------------------------------------------------------------------------------------

/// Why the last failing call of this thread failed; UTF-8, valid until the thread's next failing call. Never NULL.
const char *cmlx_last_error(void);

// ---- arrays: life, data, properties (array.cpp) ---------------------------------------------------------------------

/// A second handle for the same array.
cmlx_array cmlx_array_retain(cmlx_array array);
/// Gives a handle back. NULL is allowed.
void cmlx_array_free(cmlx_array array);

/// A new array with a copy of the bytes at `data` (row-major, dtype's size each).
cmlx_array cmlx_array_copy(const void *data, const int32_t *shape, size_t ndim, cmlx_dtype dtype);
/// A new array over the memory at `data` without a copy where the device allows it; `finalizer(context)` is called
/// once, when no array uses the memory any more, and also when the call fails.
cmlx_array cmlx_array_wrap(void *data, const int32_t *shape, size_t ndim, cmlx_dtype dtype, void *context,
                           void (*finalizer)(void *context));
/// A scalar of `dtype` with the value nearest to `value`.
cmlx_array cmlx_array_scalar(double value, cmlx_dtype dtype);
/// A scalar of `dtype` with the integer `value`.
cmlx_array cmlx_array_scalar_int(int64_t value, cmlx_dtype dtype);

/// Properties; 0 for NULL.
size_t cmlx_array_ndim(cmlx_array array);
size_t cmlx_array_size(cmlx_array array);
size_t cmlx_array_itemsize(cmlx_array array);
size_t cmlx_array_nbytes(cmlx_array array);
cmlx_dtype cmlx_array_dtype(cmlx_array array);
/// `ndim` numbers that live as long as the handle.
const int32_t *cmlx_array_shape(cmlx_array array);
/// `ndim` strides in elements; meaningful after evaluation.
const int64_t *cmlx_array_strides(cmlx_array array);

/// Evaluates and copies all elements, row-major, to `out` (nbytes bytes).
bool cmlx_array_read(cmlx_array array, void *out);
/// Evaluates and gives the address of the first element; NULL on failure.
const void *cmlx_array_data(cmlx_array array, bool *row_contiguous);
/// Evaluates an array of one element and writes it to `out` as `dtype` (CMLX_FLOAT16 and up: only float32 and float64).
bool cmlx_array_item(cmlx_array array, cmlx_dtype dtype, void *out);
/// A printable form, as MLX prints it; give it back with cmlx_string_free.
char *cmlx_array_description(cmlx_array array);
void cmlx_string_free(char *string);

size_t cmlx_list_count(cmlx_list list);
/// A new handle for element `index`.
cmlx_array cmlx_list_get(cmlx_list list, size_t index);
void cmlx_list_free(cmlx_list list);

// ---- evaluation, devices, memory (runtime.cpp) ----------------------------------------------------------------------

bool cmlx_eval(const cmlx_array *arrays, size_t count);
bool cmlx_async_eval(const cmlx_array *arrays, size_t count);

bool cmlx_gpu_is_available(void);
cmlx_stream cmlx_default_stream(int32_t device);
cmlx_stream cmlx_new_stream(int32_t device);
bool cmlx_synchronize(cmlx_stream stream);

size_t cmlx_active_memory(void);
size_t cmlx_cache_memory(void);
size_t cmlx_peak_memory(void);
size_t cmlx_memory_limit(void);
void cmlx_reset_peak_memory(void);
/// Both return the previous limit in bytes.
size_t cmlx_set_cache_limit(size_t bytes);
size_t cmlx_set_memory_limit(size_t bytes);
void cmlx_clear_cache(void);

// ---- files (io.cpp) -------------------------------------------------------------------------------------------------

/// Opens a safetensors file; the arrays are read when they are evaluated.
cmlx_archive cmlx_load_safetensors(const char *path, cmlx_stream s);
/// The same from `size` bytes at `data`, which are copied.
cmlx_archive cmlx_load_safetensors_bytes(const void *data, size_t size, cmlx_stream s);
cmlx_archive cmlx_archive_new(void);
bool cmlx_archive_add(cmlx_archive archive, const char *name, cmlx_array array);
void cmlx_archive_add_metadata(cmlx_archive archive, const char *key, const char *value);
bool cmlx_save_safetensors(cmlx_archive archive, const char *path);
/// Serializes; the bytes live until cmlx_bytes_free.
void *cmlx_save_safetensors_bytes(cmlx_archive archive, size_t *size);
void cmlx_bytes_free(void *bytes);
size_t cmlx_archive_count(cmlx_archive archive);
const char *cmlx_archive_name(cmlx_archive archive, size_t index);
cmlx_array cmlx_archive_array(cmlx_archive archive, size_t index);
size_t cmlx_archive_metadata_count(cmlx_archive archive);
const char *cmlx_archive_metadata_key(cmlx_archive archive, size_t index);
const char *cmlx_archive_metadata_value(cmlx_archive archive, size_t index);
void cmlx_archive_free(cmlx_archive archive);
/// One array of a .npy file.
cmlx_array cmlx_load(const char *path, cmlx_stream s);
bool cmlx_save(const char *path, cmlx_array array);

// ---- ops by shape: one name each ------------------------------------------------------------------------------------

/// f(array)
#define CMLX_UNARY(OP)                                                                                                 \
  OP(abs) OP(arccos) OP(arccosh) OP(arcsin) OP(arcsinh) OP(arctan) OP(arctanh) OP(bitwise_invert) OP(ceil) OP(cos)     \
  OP(cosh) OP(erf) OP(erfinv) OP(exp) OP(expm1) OP(floor) OP(isfinite) OP(isinf) OP(isnan) OP(isneginf) OP(isposinf)   \
  OP(log) OP(log10) OP(log1p) OP(log2) OP(logical_not) OP(negative) OP(ones_like) OP(reciprocal) OP(rsqrt) OP(sigmoid) \
  OP(sign) OP(sin) OP(sinh) OP(sqrt) OP(square) OP(tan) OP(tanh) OP(transpose)            \
  OP(zeros_like)

/// f(array, array)
#define CMLX_BINARY(OP)                                                                                                \
  OP(add) OP(bitwise_and) OP(bitwise_or) OP(bitwise_xor) OP(divide) OP(equal) OP(floor_divide) OP(greater) \
  OP(greater_equal) OP(inner) OP(left_shift) OP(less) OP(less_equal) OP(logaddexp) OP(logical_and)            \
  OP(logical_or) OP(maximum) OP(minimum) OP(multiply) OP(not_equal) OP(outer) OP(power) OP(remainder)       \
  OP(right_shift) OP(subtract)

/// f(array, axes, keepdims); f_all over all axes
#define CMLX_REDUCE(OP) OP(all) OP(any) OP(logsumexp) OP(max) OP(mean) OP(min) OP(prod) OP(sum)

/// f(array, axis, keepdims); f_all over the flattened array
#define CMLX_ARG_REDUCE(OP) OP(argmax) OP(argmin)

/// f(array, axes, keepdims, ddof); f_all over all axes
#define CMLX_VARIANCE(OP) OP(std) OP(var)

/// f(array, axis, reverse, inclusive)
#define CMLX_SCAN(OP) OP(cummax) OP(cummin) OP(cumprod) OP(cumsum)

/// f(array, axis); f_flat over the flattened array
#define CMLX_SORT(OP) OP(argsort) OP(sort)

/// f(array, k, axis); f_flat over the flattened array
#define CMLX_SELECT(OP) OP(argpartition) OP(partition) OP(topk)

/// f(array, k)
#define CMLX_DIAGONAL(OP) OP(diag) OP(tril) OP(triu)

#define CMLX_DECLARE_UNARY(f) cmlx_array cmlx_##f(cmlx_array a, cmlx_stream s);
#define CMLX_DECLARE_BINARY(f) cmlx_array cmlx_##f(cmlx_array a, cmlx_array b, cmlx_stream s);
#define CMLX_DECLARE_REDUCE(f)                                                                                         \
  cmlx_array cmlx_##f(cmlx_array a, const int32_t *axes, size_t count, bool keepdims, cmlx_stream s);                  \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, cmlx_stream s);
#define CMLX_DECLARE_ARG_REDUCE(f)                                                                                     \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, bool keepdims, cmlx_stream s);                                       \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, cmlx_stream s);
#define CMLX_DECLARE_VARIANCE(f)                                                                                       \
  cmlx_array cmlx_##f(cmlx_array a, const int32_t *axes, size_t count, bool keepdims, int32_t ddof, cmlx_stream s);    \
  cmlx_array cmlx_##f##_all(cmlx_array a, bool keepdims, int32_t ddof, cmlx_stream s);
#define CMLX_DECLARE_SCAN(f)                                                                                           \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, bool reverse, bool inclusive, cmlx_stream s);
#define CMLX_DECLARE_SORT(f)                                                                                           \
  cmlx_array cmlx_##f(cmlx_array a, int32_t axis, cmlx_stream s);                                                      \
  cmlx_array cmlx_##f##_flat(cmlx_array a, cmlx_stream s);
#define CMLX_DECLARE_SELECT(f)                                                                                         \
  cmlx_array cmlx_##f(cmlx_array a, int32_t k, int32_t axis, cmlx_stream s);                                           \
  cmlx_array cmlx_##f##_flat(cmlx_array a, int32_t k, cmlx_stream s);
#define CMLX_DECLARE_DIAGONAL(f) cmlx_array cmlx_##f(cmlx_array a, int32_t k, cmlx_stream s);

CMLX_UNARY(CMLX_DECLARE_UNARY)
CMLX_BINARY(CMLX_DECLARE_BINARY)
CMLX_REDUCE(CMLX_DECLARE_REDUCE)
CMLX_ARG_REDUCE(CMLX_DECLARE_ARG_REDUCE)
CMLX_VARIANCE(CMLX_DECLARE_VARIANCE)
CMLX_SCAN(CMLX_DECLARE_SCAN)
CMLX_SORT(CMLX_DECLARE_SORT)
CMLX_SELECT(CMLX_DECLARE_SELECT)
CMLX_DIAGONAL(CMLX_DECLARE_DIAGONAL)

// ---- ops of their own shape (ops.cpp) -------------------------------------------------------------------------------

cmlx_array cmlx_arange(double start, double stop, double step, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_eye(int32_t n, int32_t m, int32_t k, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_full(const int32_t *shape, size_t ndim, cmlx_array value, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_linspace(double start, double stop, int32_t count, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_tri(int32_t n, int32_t m, int32_t k, cmlx_dtype dtype, cmlx_stream s);
cmlx_list cmlx_meshgrid(const cmlx_array *arrays, size_t count, bool sparse, const char *indexing, cmlx_stream s);

cmlx_array cmlx_astype(cmlx_array a, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_view(cmlx_array a, cmlx_dtype dtype, cmlx_stream s);
cmlx_array cmlx_contiguous(cmlx_array a, bool allow_col_major, cmlx_stream s);
cmlx_array cmlx_as_strided(cmlx_array a, const int32_t *shape, size_t ndim, const int64_t *strides, size_t stride_count,
                           size_t offset, cmlx_stream s);
cmlx_array cmlx_reshape(cmlx_array a, const int32_t *shape, size_t ndim, cmlx_stream s);
cmlx_array cmlx_flatten(cmlx_array a, int32_t start, int32_t end, cmlx_stream s);
cmlx_array cmlx_unflatten(cmlx_array a, int32_t axis, const int32_t *shape, size_t ndim, cmlx_stream s);
cmlx_array cmlx_transpose_axes(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s);
cmlx_array cmlx_swapaxes(cmlx_array a, int32_t axis1, int32_t axis2, cmlx_stream s);
cmlx_array cmlx_moveaxis(cmlx_array a, int32_t source, int32_t destination, cmlx_stream s);
cmlx_array cmlx_expand_dims(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s);
cmlx_array cmlx_squeeze(cmlx_array a, const int32_t *axes, size_t count, cmlx_stream s);
cmlx_array cmlx_squeeze_all(cmlx_array a, cmlx_stream s);
cmlx_array cmlx_broadcast_to(cmlx_array a, const int32_t *shape, size_t ndim, cmlx_stream s);
cmlx_list cmlx_broadcast_arrays(const cmlx_array *arrays, size_t count, cmlx_stream s);
cmlx_array cmlx_concatenate(const cmlx_array *arrays, size_t count, int32_t axis, cmlx_stream s);
cmlx_array cmlx_stack(const cmlx_array *arrays, size_t count, int32_t axis, cmlx_stream s);
cmlx_list cmlx_split(cmlx_array a, int32_t parts, int32_t axis, cmlx_stream s);
cmlx_list cmlx_split_at(cmlx_array a, const int32_t *indices, size_t count, int32_t axis, cmlx_stream s);
cmlx_array cmlx_repeat(cmlx_array a, int32_t count, int32_t axis, cmlx_stream s);
cmlx_array cmlx_repeat_flat(cmlx_array a, int32_t count, cmlx_stream s);
cmlx_array cmlx_tile(cmlx_array a, const int32_t *repetitions, size_t count, cmlx_stream s);
cmlx_array cmlx_roll(cmlx_array a, int32_t shift, const int32_t *axes, size_t count, cmlx_stream s);
cmlx_array cmlx_roll_flat(cmlx_array a, int32_t shift, cmlx_stream s);
/// `low` and `high`: one width for each of the array's `ndim` axes. mode: "constant" or "edge".
cmlx_array cmlx_pad(cmlx_array a, const int32_t *low, const int32_t *high, size_t ndim, cmlx_array value,
                    const char *mode, cmlx_stream s);
cmlx_list cmlx_depends(const cmlx_array *inputs, size_t input_count, const cmlx_array *dependencies, size_t count);

/// `starts`, `stops`, `strides`: one number for each of the array's `ndim` axes.
cmlx_array cmlx_slice(cmlx_array a, const int32_t *starts, const int32_t *stops, const int32_t *strides, size_t ndim,
                      cmlx_stream s);
cmlx_array cmlx_slice_update(cmlx_array a, cmlx_array update, const int32_t *starts, const int32_t *stops,
                             const int32_t *strides, size_t ndim, cmlx_stream s);
cmlx_array cmlx_gather(cmlx_array a, const cmlx_array *indices, size_t count, const int32_t *axes, size_t axis_count,
                       const int32_t *slice_sizes, size_t slice_count, cmlx_stream s);
cmlx_array cmlx_scatter(cmlx_array a, const cmlx_array *indices, size_t count, cmlx_array updates, const int32_t *axes,
                        size_t axis_count, cmlx_stream s);

cmlx_array cmlx_take(cmlx_array a, cmlx_array indices, int32_t axis, cmlx_stream s);
cmlx_array cmlx_take_flat(cmlx_array a, cmlx_array indices, cmlx_stream s);
cmlx_array cmlx_take_along_axis(cmlx_array a, cmlx_array indices, int32_t axis, cmlx_stream s);
cmlx_array cmlx_put_along_axis(cmlx_array a, cmlx_array indices, cmlx_array values, int32_t axis, cmlx_stream s);
cmlx_array cmlx_where(cmlx_array condition, cmlx_array a, cmlx_array b, cmlx_stream s);
/// `low` and `high` may be NULL.
cmlx_array cmlx_clip(cmlx_array a, cmlx_array low, cmlx_array high, cmlx_stream s);
cmlx_array cmlx_round(cmlx_array a, int32_t decimals, cmlx_stream s);
cmlx_array cmlx_softmax(cmlx_array a, const int32_t *axes, size_t count, bool precise, cmlx_stream s);
cmlx_array cmlx_softmax_all(cmlx_array a, bool precise, cmlx_stream s);
cmlx_array cmlx_nan_to_num(cmlx_array a, float nan, cmlx_optional_float inf, cmlx_optional_float neginf, cmlx_stream s);
cmlx_array cmlx_allclose(cmlx_array a, cmlx_array b, double rtol, double atol, bool equal_nan, cmlx_stream s);
cmlx_array cmlx_isclose(cmlx_array a, cmlx_array b, double rtol, double atol, bool equal_nan, cmlx_stream s);
cmlx_array cmlx_array_equal(cmlx_array a, cmlx_array b, bool equal_nan, cmlx_stream s);

cmlx_array cmlx_addmm(cmlx_array c, cmlx_array a, cmlx_array b, float alpha, float beta, cmlx_stream s);
cmlx_array cmlx_einsum(const char *subscripts, const cmlx_array *operands, size_t count, cmlx_stream s);
cmlx_array cmlx_tensordot(cmlx_array a, cmlx_array b, int32_t axes, cmlx_stream s);
/// `lhs_indices` and `rhs_indices` may be NULL.
cmlx_array cmlx_gather_mm(cmlx_array a, cmlx_array b, cmlx_array lhs_indices, cmlx_array rhs_indices, bool sorted,
                          cmlx_stream s);
cmlx_array cmlx_hadamard_transform(cmlx_array a, cmlx_optional_float scale, cmlx_stream s);
/// `stride`, `padding`, `dilation`: one number for each of `dimensions` (1, 2 or 3) spatial axes.
cmlx_array cmlx_conv(cmlx_array input, cmlx_array weight, const int32_t *stride, const int32_t *padding,
                     const int32_t *dilation, size_t dimensions, int32_t groups, cmlx_stream s);
/// Two or three arrays: packed weight, scales, and biases in mode "affine". `global_scale` may be NULL.
cmlx_list cmlx_quantize(cmlx_array w, cmlx_optional_int group_size, cmlx_optional_int bits, const char *mode,
                        cmlx_array global_scale, cmlx_stream s);
/// `biases`, `global_scale` may be NULL; `dtype` NULL: the scales' type.
cmlx_array cmlx_dequantize(cmlx_array w, cmlx_array scales, cmlx_array biases, cmlx_optional_int group_size,
                           cmlx_optional_int bits, const char *mode, cmlx_array global_scale, const cmlx_dtype *dtype,
                           cmlx_stream s);
/// `w_scales`, `global_scale_x`, `global_scale_w` may be NULL.
cmlx_array cmlx_qqmm(cmlx_array x, cmlx_array w, cmlx_array w_scales, cmlx_optional_int group_size,
                     cmlx_optional_int bits, const char *mode, cmlx_array global_scale_x, cmlx_array global_scale_w,
                     cmlx_stream s);

// ---- ops that our own CPU primitives may take over (route.cpp) ------------------------------------------------------

/// `biases` may be NULL.
cmlx_array cmlx_matmul(cmlx_array a, cmlx_array b, cmlx_stream s);
cmlx_array cmlx_quantized_matmul(cmlx_array x, cmlx_array w, cmlx_array scales, cmlx_array biases, bool transpose,
                                 cmlx_optional_int group_size, cmlx_optional_int bits, const char *mode, cmlx_stream s);
/// `biases`, `lhs_indices`, `rhs_indices` may be NULL.
cmlx_array cmlx_gather_qmm(cmlx_array x, cmlx_array w, cmlx_array scales, cmlx_array biases, cmlx_array lhs_indices,
                           cmlx_array rhs_indices, bool transpose, cmlx_optional_int group_size, cmlx_optional_int bits,
                           const char *mode, bool sorted, cmlx_stream s);
/// `weight` may be NULL.
cmlx_array cmlx_rms_norm(cmlx_array x, cmlx_array weight, float eps, cmlx_stream s);
/// `weight` and `bias` may be NULL.
cmlx_array cmlx_layer_norm(cmlx_array x, cmlx_array weight, cmlx_array bias, float eps, cmlx_stream s);
/// `freqs` may be NULL.
cmlx_array cmlx_rope(cmlx_array x, int32_t dims, bool traditional, cmlx_optional_float base, float scale,
                     int32_t offset, cmlx_array freqs, cmlx_stream s);
cmlx_array cmlx_rope_dynamic(cmlx_array x, int32_t dims, bool traditional, cmlx_optional_float base, float scale,
                             cmlx_array offset, cmlx_array freqs, cmlx_stream s);
/// mask_mode: "" or "causal". `mask` and `sinks` may be NULL.
cmlx_array cmlx_scaled_dot_product_attention(cmlx_array queries, cmlx_array keys, cmlx_array values, float scale,
                                             const char *mask_mode, cmlx_array mask, cmlx_array sinks, cmlx_stream s);

// ---- random numbers (random.cpp): `key` may not be NULL -------------------------------------------------------------

cmlx_array cmlx_random_key(uint64_t seed);
cmlx_array cmlx_random_split(cmlx_array key, int32_t count, cmlx_stream s);
cmlx_array cmlx_random_uniform(cmlx_array low, cmlx_array high, const int32_t *shape, size_t ndim, cmlx_dtype dtype,
                               cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_normal(const int32_t *shape, size_t ndim, cmlx_dtype dtype, float loc, float scale,
                              cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_randint(cmlx_array low, cmlx_array high, const int32_t *shape, size_t ndim, cmlx_dtype dtype,
                               cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_bernoulli(cmlx_array p, const int32_t *shape, size_t ndim, cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_gumbel(const int32_t *shape, size_t ndim, cmlx_dtype dtype, cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_categorical(cmlx_array logits, int32_t axis, cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_categorical_shape(cmlx_array logits, int32_t axis, const int32_t *shape, size_t ndim,
                                         cmlx_array key, cmlx_stream s);
cmlx_array cmlx_random_categorical_count(cmlx_array logits, int32_t axis, int32_t count, cmlx_array key, cmlx_stream s);

// ---- compiled functions (compile.cpp) -------------------------------------------------------------------------------

/// Traces a function: takes `count` tracers (borrowed), returns a list that it owns no more, or NULL on failure.
typedef cmlx_list (*cmlx_trace)(void *context, const cmlx_array *tracers, size_t count);
/// A new list with the given arrays.
cmlx_list cmlx_list_new(const cmlx_array *arrays, size_t count);
/// Calls the function known as `id`, tracing and compiling it first where that is needed.
cmlx_list cmlx_compiled_call(uintptr_t id, bool shapeless, cmlx_trace trace, void *context, const cmlx_array *inputs,
                             size_t count);
/// Forgets what was compiled for `id`.
void cmlx_compiled_erase(uintptr_t id);
void cmlx_set_compile_enabled(bool enabled);

#ifdef __cplusplus
}
#endif
