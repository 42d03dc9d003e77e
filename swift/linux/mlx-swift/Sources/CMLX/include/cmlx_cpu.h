// Control of the CPU primitives, for module MLXCPU. Process-wide; to be set before the first step.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Instruction set in use: avx512, avx2, neon or plain. Static storage.
const char *cmlx_cpu_variant(void);

/// Uses the variant `name` from the next primitive on. False: this machine can't run it.
bool cmlx_cpu_set_variant(const char *name);

/// Variant `index` of those that this machine can run, best first; NULL behind the last. Static storage.
const char *cmlx_cpu_available_variant(size_t index);

/// Threads that work on a job.
int cmlx_cpu_threads(void);

/// 1 to 64; 0: what this process may use. False: cmlx_last_error() says why.
bool cmlx_cpu_set_threads(int count);

/// Whether activations are rounded to int8 inside quantized products.
bool cmlx_cpu_is_fast(void);
bool cmlx_cpu_set_fast(bool fast);

/// What one stage of the work took since cmlx_cpu_profile_start; bytes are of weights, keys and values.
typedef struct cmlx_cpu_stage {
  /// Static storage.
  const char *name;
  int64_t nanoseconds;
  int64_t bytes;
  int64_t calls;
} cmlx_cpu_stage;

/// Zeroes the totals and times stages from now on, until stopped. Bytes are counted always.
void cmlx_cpu_profile_start(void);
void cmlx_cpu_profile_stop(void);
/// Stage `index`; 0 is the evaluation of graphs, which holds all others. False behind the last.
bool cmlx_cpu_profile_stage(size_t index, cmlx_cpu_stage *stage);

/// Bytes a second that the pool reads from memory: the best of `rounds` over `bytes`; 0: failed.
double cmlx_cpu_read_bandwidth(int64_t bytes, int rounds);

// Rows of logits, on the calling thread. Every variant gives the same bits. Rows hold no NaN but for the first.

/// The lowest index of the largest value; -1 if a value is a NaN, or the largest is infinite, or there is none.
int64_t cmlx_cpu_best_index(const float *row, size_t count);
/// The `wanted` largest, best first, the lower index first on ties; `out` has room for them. Returns how many.
size_t cmlx_cpu_top_indices(const float *row, size_t count, size_t wanted, int32_t *out);
/// Indices in order with value / temperature >= floor, taken in float64; `out` has room for `count`. Returns how many.
size_t cmlx_cpu_indices_from(const float *row, size_t count, double temperature, double floor, int32_t *out);
/// Sum of e^(value / temperature - best) in float64; `best` is the largest quotient.
double cmlx_cpu_mass(const float *row, size_t count, double temperature, double best);

#ifdef __cplusplus
}
#endif
