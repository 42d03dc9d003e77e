// The body of every variant_*.cpp: the kernels' sources inside the namespace RMX_NAMESPACE, and their table.
// Each variant defines RMX_LANES and the RMX_* switches first and opens its target attributes.
namespace rmx::cpu::RMX_NAMESPACE {

// clang-format off
#include "simd.h"
#include "convert.h"
#include "pack.h"
#include "product_codes.h"
#include "product_units.h"
#include "product_exact.h"
#include "product_fast.h"
#include "product_dense.h"
#include "product.h"
#include "rows.h"
#include "attention.h"
#include "sampling.h"
// clang-format on

const Kernels& table() {
  static const Kernels kernels = {
      .variant = Variant::RMX_NAMESPACE,
      .name = variant_name(Variant::RMX_NAMESPACE),
      .lanes = L,
      .widen = widen,
      .narrow = narrow,
      .packed_size = packed_size,
      .pack_row = pack_row,
      .product = product,
      .rms_norm = rms_norm,
      .swiglu = swiglu,
      .angles = angles,
      .rotate = rotate,
      .padded = padded,
      .attend = attend,
      .merge = merge,
      .finish = finish,
      .maximum_of = maximum_of,
      .find_above = find_above,
      .collect = collect,
      .mass = mass,
  };
  return kernels;
}

}  // namespace rmx::cpu::RMX_NAMESPACE
