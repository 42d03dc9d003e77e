// Kernels for AVX2 with FMA and F16C (Haswell, Zen and later).
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels.h"

#define RMX_NAMESPACE avx2
#define RMX_LANES 8
#define RMX_AVX512 0
#define RMX_AVX2 1
#define RMX_NEON 0
#define RMX_FMA 1

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#include "kernels/variant.h"
#pragma clang attribute pop
#endif
