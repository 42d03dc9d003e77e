// The C face of what our CPU kernels (cpu/) have beyond MLX: caches in pages, and whole blocks of a decoder. The Swift
// module MLXCPU is its only user. Rules of errors and handles are those of cmlx.h.
#pragma once

#include "cmlx.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- caches ---------------------------------------------------------------------------------------------------------

/// Keys and values of one layer of one sequence, in pages.
typedef struct cmlx_cpu_cache_object *cmlx_cpu_cache;

/// Empty; elements are CMLX_FLOAT32, CMLX_FLOAT16 or CMLX_BFLOAT16.
cmlx_cpu_cache cmlx_cpu_cache_new(int32_t kv_heads, int32_t head_dim, cmlx_dtype dtype);
void cmlx_cpu_cache_free(cmlx_cpu_cache cache);
/// A cache with the first `rows` rows; full pages are shared, the last one is copied when either writes to it. All
/// steps that use the cache must have been evaluated.
cmlx_cpu_cache cmlx_cpu_cache_fork(cmlx_cpu_cache cache, int64_t rows);
/// Forgets rows from `rows` on. All steps that use the cache must have been evaluated.
bool cmlx_cpu_cache_truncate(cmlx_cpu_cache cache, int64_t rows);
/// Bytes of the pages that it holds, shared ones included.
size_t cmlx_cpu_cache_nbytes(cmlx_cpu_cache cache);

// ---- blocks ---------------------------------------------------------------------------------------------------------

/// A weight [N, K]: dense floats (`scales` NULL), or codes with scales and, if `mode` is affine, biases. `mode` NULL:
/// affine. `bias` [N] is added to the product; NULL: none. All arrays are borrowed; what is needed of them is kept.
typedef struct cmlx_cpu_matrix {
  const char *name;
  cmlx_array weight;
  cmlx_array scales;
  cmlx_array biases;
  int32_t group_size;
  int32_t bits;
  const char *mode;
  cmlx_array bias;
} cmlx_cpu_matrix;

/// An RMS norm; `weight` NULL: there is none.
typedef struct cmlx_cpu_norm {
  const char *name;
  cmlx_array weight;
  float epsilon;
} cmlx_cpu_norm;

typedef struct cmlx_cpu_feed_forward_object *cmlx_cpu_feed_forward;

/// x + down(silu(gate(norm(x))) * up(norm(x))). Fails for what the kernels do not take.
cmlx_cpu_feed_forward cmlx_cpu_feed_forward_new(
    const cmlx_cpu_norm *norm, const cmlx_cpu_matrix *gate, const cmlx_cpu_matrix *up, const cmlx_cpu_matrix *down);
void cmlx_cpu_feed_forward_free(cmlx_cpu_feed_forward block);
/// x [R, C] to [R, C].
cmlx_array cmlx_cpu_feed_forward_apply(cmlx_cpu_feed_forward block, cmlx_array x, cmlx_stream s);

/// Rotary embedding as cmlx_rope has it: angles are position * scale / period. Heads are multiplied by `amplitude`
/// before.
typedef struct cmlx_cpu_rope {
  int32_t dims;
  bool traditional;
  float scale;
  float amplitude;
  /// Periods are base^(2i / dims), unless given.
  float base;
  /// dims / 2 numbers, borrowed; NULL: by `base`.
  const float *periods;
} cmlx_cpu_rope;

typedef struct cmlx_cpu_attention_layout {
  int32_t heads;
  int32_t kv_heads;
  int32_t head_dim;
  /// Of scores, usually 1 / sqrt(head_dim).
  float scale;
} cmlx_cpu_attention_layout;

/// Rows of x in order: `count` rows at absolute positions `position` and on, written to `cache` and attending to it.
typedef struct cmlx_cpu_span {
  int32_t count;
  int64_t position;
  cmlx_cpu_cache cache;
} cmlx_cpu_span;

typedef struct cmlx_cpu_attention_object *cmlx_cpu_attention;

/// x + output(attention(...)), causal. Fails for what the kernels do not take.
cmlx_cpu_attention cmlx_cpu_attention_new(
    const cmlx_cpu_norm *norm, const cmlx_cpu_matrix *query, const cmlx_cpu_matrix *key, const cmlx_cpu_matrix *value,
    const cmlx_cpu_matrix *output, const cmlx_cpu_norm *query_norm, const cmlx_cpu_norm *key_norm,
    const cmlx_cpu_rope *rope, const cmlx_cpu_attention_layout *layout);
void cmlx_cpu_attention_free(cmlx_cpu_attention block);
/// x [R, C] to [R, C]. Evaluating the result writes the caches: exactly once, in the order in which steps were built.
cmlx_array cmlx_cpu_attention_apply(
    cmlx_cpu_attention block, cmlx_array x, const cmlx_cpu_span *spans, size_t count, cmlx_stream s);

/// A matrix with a row for each token.
typedef struct cmlx_cpu_table_object *cmlx_cpu_table;

/// The bias is ignored. Fails for what the kernels do not take.
cmlx_cpu_table cmlx_cpu_table_new(const cmlx_cpu_matrix *matrix);
void cmlx_cpu_table_free(cmlx_cpu_table table);
/// int32 [R] to float32 [R, K]; an index that is no row gives NaNs.
cmlx_array cmlx_cpu_table_rows(cmlx_cpu_table table, cmlx_array indices, cmlx_stream s);
/// x [R, K] to uint32 [R, 2]: the lowest index of the largest product with a row, and the bits of that float32; they
/// are a NaN's if any product is one.
cmlx_array cmlx_cpu_table_best(cmlx_cpu_table table, cmlx_array x, cmlx_stream s);

#ifdef __cplusplus
}
#endif
