// Files that are mapped into memory, and what happens when one of them is cut short or its disk fails meanwhile: reads
// give zeros and the range is marked, where the process would end by SIGBUS.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Watches `count` bytes from `start` on, which a mapping of a file fills. The first call takes over SIGBUS; faults
/// elsewhere go on to the handler that was there before. Negative: 4,096 are watched already, and this one is not.
int32_t cmlx_mapped_watch(const void *start, size_t count);

/// Whether a page of the range could not be read. Zeros are there from it to the end of the range.
bool cmlx_mapped_is_broken(int32_t watch);

/// Ends the watch, before the range is unmapped.
void cmlx_mapped_release(int32_t watch);

#ifdef __cplusplus
}
#endif
