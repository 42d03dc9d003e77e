// Kernels for 64-bit ARM; eight lanes, so two registers a vector.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "kernels.h"

#define RMX_NAMESPACE neon
#define RMX_LANES 8
#define RMX_AVX512 0
#define RMX_AVX2 0
#define RMX_NEON 1
#define RMX_FMA 1

#include "kernels/variant.h"
#endif
