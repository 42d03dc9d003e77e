// The matrix with a row for each token: as an embedding, and as a head of which only the best token is wanted.
#pragma once

#include "blocks.h"

namespace rmx::cpu {

/// Rows of the table as float32 [R, columns]: scale * code + bias, rounded once. `indices` is int32 [R]; one that is
/// no row gives NaNs.
array table_rows(std::shared_ptr<const Matrix> table, const array& indices, Stream stream);

/// For each row of x [R, columns] the index of the largest product with a row of the table, the lowest on ties, and
/// that product: uint32 [R, 2], the second being the bits of a float32. A NaN among the products makes it a NaN. The
/// products are those of `quantized_matmul` and `matmul`, bit for bit; they are not kept.
array table_best(std::shared_ptr<const Matrix> table, const array& x, Stream stream);

}  // namespace rmx::cpu
