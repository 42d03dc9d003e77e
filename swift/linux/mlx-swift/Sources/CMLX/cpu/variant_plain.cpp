// Kernels for any machine: C++ with clang's vector extensions and nothing beyond the compiler's baseline.
#include "kernels.h"

#define RMX_NAMESPACE plain
#define RMX_LANES 8
#define RMX_AVX512 0
#define RMX_AVX2 0
#define RMX_NEON 0
#define RMX_FMA 0

// No vector crosses a function that is not inlined, so its calling convention does not matter.
#pragma clang diagnostic ignored "-Wpsabi"
#include "kernels/variant.h"
