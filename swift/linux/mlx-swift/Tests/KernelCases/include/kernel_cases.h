// Random cases over the CPU kernels, for Swift and for main.cpp: each case is a kernel or op on random operands, run by
// every variant of this machine, held to the error bound of cpu/README.md and to bits that depend on the row alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What to run.
typedef struct kernel_cases_plan {
  /// Case i of a seed is the same in every run and on every machine.
  uint64_t seed;
  int32_t first;
  int32_t count;
  /// Multiply-adds of one product at most, in millions; bounds the time of a case. 0: 40.
  int32_t megamacs;
} kernel_cases_plan;

/// Called once for each failed check; the text names case, seed and operands.
typedef void (*kernel_cases_failure)(void *context, const char *text);

/// Runs the cases; returns how many checks were made. `summary` (of `summary_size` bytes, ended by zero) receives what
/// ran and how close errors came to their bounds, one line a kind.
int64_t kernel_cases_run(
    const kernel_cases_plan *plan, kernel_cases_failure failure, void *context, char *summary, int32_t summary_size);

#ifdef __cplusplus
}
#endif
