// Control of the CPU primitives, for module MLXCPU. Process-wide; to be set before the first step.
#pragma once

#include <stdbool.h>
#include <stddef.h>

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

#ifdef __cplusplus
}
#endif
