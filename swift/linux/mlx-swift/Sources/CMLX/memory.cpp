// What arrays hold: MLX's allocator, and beside it the memory that arrays borrow (adopted weights, kept scratch).
#include <algorithm>
#include <mutex>

#include "guard.h"

namespace mx = mlx::core;
using namespace cmlx;

namespace {

/// MLX knows the peak of its own bytes only. The peak of both together is exact all the same, because borrowed bytes
/// change rarely: at each change the peak until then is noted and MLX's begins anew.
struct Borrowed {
  std::mutex mutex;
  size_t bytes = 0;
  size_t peak_before = 0;

  size_t active() const { return mx::get_active_memory() + bytes; }
  size_t peak() const {
    return std::max(peak_before, std::max(mx::get_peak_memory(), mx::get_active_memory()) + bytes);
  }
};

/// Never destroyed: threads that end with the process give their scratch back.
Borrowed &borrowed() {
  static auto *state = new Borrowed;
  return *state;
}

}  // namespace

void cmlx::count_borrowed(int64_t bytes) {
  auto &state = borrowed();
  const std::lock_guard lock(state.mutex);
  state.peak_before = state.peak();
  mx::reset_peak_memory();
  state.bytes += static_cast<size_t>(bytes);
}

size_t cmlx_active_memory(void) {
  auto &state = borrowed();
  const std::lock_guard lock(state.mutex);
  return state.active();
}

size_t cmlx_peak_memory(void) {
  auto &state = borrowed();
  const std::lock_guard lock(state.mutex);
  return state.peak();
}

void cmlx_reset_peak_memory(void) {
  auto &state = borrowed();
  const std::lock_guard lock(state.mutex);
  state.peak_before = 0;
  mx::reset_peak_memory();
}

size_t cmlx_cache_memory(void) { return mx::get_cache_memory(); }
size_t cmlx_memory_limit(void) { return mx::get_memory_limit(); }
size_t cmlx_set_cache_limit(size_t bytes) { return mx::set_cache_limit(bytes); }
size_t cmlx_set_memory_limit(size_t bytes) { return mx::set_memory_limit(bytes); }
void cmlx_clear_cache(void) {
  run([] { mx::clear_cache(); });
}
