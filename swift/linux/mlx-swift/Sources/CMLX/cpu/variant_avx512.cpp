// Kernels for AVX-512 with VNNI and VBMI (Ice Lake, Zen 4 and later).
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels.h"

#define RMX_NAMESPACE avx512
#define RMX_LANES 16
#define RMX_AVX512 1
#define RMX_AVX2 0
#define RMX_NEON 0
#define RMX_FMA 1

#pragma clang attribute push(                                                                          \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi,avx2,fma,f16c"))), \
    apply_to = function)
#include "kernels/variant.h"
#pragma clang attribute pop
#endif
