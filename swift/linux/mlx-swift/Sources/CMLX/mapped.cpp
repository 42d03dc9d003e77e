// cmlx_mapped.h: a handler of SIGBUS that puts zeros where a mapped file has none left.
#include "include/cmlx_mapped.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

namespace {

constexpr int kWatchesMax = 4096;

/// Read by the handler, which may interrupt anything: atomics only. `start` 0: free.
struct Watch {
  std::atomic<uintptr_t> start{0}, end{0};
  std::atomic<bool> broken{false};
};

Watch watches[kWatchesMax];
struct sigaction before;
uintptr_t page = 4096;

void pass_on(int signal, siginfo_t* info, void* context) {
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // A fault comes again as soon as this returns, and ends the process then; a signal that was sent is sent again.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  if (info->si_code <= 0) raise(signal);
}

/// Behind the first page that can't be read there is nothing that a product may use, so all of it becomes zeros at
/// once. mmap is a bare system call, and the only one here.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Watch& watch : watches) {
    const uintptr_t start = watch.start.load(), end = watch.end.load();
    if (start == 0 || at < start || at >= end) continue;
    const uintptr_t from = at / page * page;
    const void* zeros = mmap(
        reinterpret_cast<void*>(from), end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    watch.broken.store(true);
    errno = kept;
    return;
  }
  errno = kept;
  pass_on(signal, info, context);
}

void take_over() {
  page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

}  // namespace

int32_t cmlx_mapped_watch(const void* start, size_t count) {
  static std::once_flag once;
  static std::mutex mutex;
  std::call_once(once, take_over);
  const std::lock_guard lock(mutex);
  for (int i = 0; i < kWatchesMax; i++) {
    if (watches[i].start.load() != 0) continue;
    watches[i].broken.store(false);
    watches[i].end.store(reinterpret_cast<uintptr_t>(start) + count);
    watches[i].start.store(reinterpret_cast<uintptr_t>(start));
    return i;
  }
  return -1;
}

bool cmlx_mapped_is_broken(int32_t watch) { return watch >= 0 && watch < kWatchesMax && watches[watch].broken.load(); }

void cmlx_mapped_release(int32_t watch) {
  if (watch >= 0 && watch < kWatchesMax) watches[watch].start.store(0);
}
