// The kinds of cases. Each takes one Case, chooses its operands from it, and reports.
#pragma once

#include "report.h"

namespace rmx::cpu::cases {

// On the table of kernels alone (no MLX): these run under qemu and every sanitizer.
void quantized_product(Case& item);
void dense_product(Case& item);
void norm(Case& item);
void swiglu(Case& item);
void rotation(Case& item);
void conversion(Case& item);
void attention(Case& item);
void pool(Case& item);
void logits(Case& item);

#ifndef KERNEL_CASES_WITHOUT_MLX
// On ops and blocks: against MLX's own op, and bit for bit against the table.
void product_op(Case& item);
void gathered_op(Case& item);
void table_op(Case& item);
void row_op(Case& item);
void attention_op(Case& item);
void feed_forward_block(Case& item);
void attention_block(Case& item);
#endif

}  // namespace rmx::cpu::cases
