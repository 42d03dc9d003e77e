// The thread pool of the CPU primitives: sizing, claiming, spinning and sleeping.
#include "threads.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace rmx::cpu {

namespace {

constexpr int kThreadsMax = 64;
constexpr int kCountBits = 20;
constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;
// How long an idle worker spins before it sleeps. A decode step has gaps of a few microseconds between its products;
// between steps the other core belongs to JavaScript.
constexpr auto kSpin = std::chrono::microseconds(60);

// A caller that has waited so long offers its own core.
constexpr auto kYield = std::chrono::microseconds(250);
// A worker that is later than this at the end of a job has lost its core to a process that keeps it. Shorter waits are
// the server's own: after each step JavaScript and the client take a core for a millisecond, and then it comes back.
constexpr auto kLate = std::chrono::milliseconds(3);
// How long the caller then works alone, doubling up to the longest while workers keep being late.
constexpr auto kPauseMin = std::chrono::milliseconds(2);
constexpr auto kPauseMax = std::chrono::milliseconds(64);

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint64_t pack(uint64_t generation, uint64_t chunks) { return generation << (2 * kCountBits) | chunks << kCountBits; }

uint64_t chunks_of(uint64_t ticket) { return ticket >> kCountBits & kCountMask; }

uint64_t next_of(uint64_t ticket) { return ticket & kCountMask; }

/// The smallest quota in cores of this process's cgroup v2 and those around it; negative: none.
double quota_v2() {
  // "0::/path"; in a container's own namespace the path is "/".
  std::string line, group;
  for (std::ifstream list("/proc/self/cgroup"); std::getline(list, line);) {
    if (line.rfind("0::", 0) == 0) group = line.substr(3);
  }
  double least = -1;
  for (bool more = true; more;) {
    std::ifstream file("/sys/fs/cgroup" + (group == "/" ? "" : group) + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) {
      const double cores = std::atof(quota.c_str()) / period;
      if (least < 0 || cores < least) least = cores;
    }
    const size_t slash = group.rfind('/');
    more = slash != std::string::npos && group != "/";
    if (more) group = slash == 0 ? "/" : group.substr(0, slash);
  }
  return least;
}

/// Cores by CPU quota (cgroup v2, then v1), rounded down; kThreadsMax without a quota.
int quota_threads() {
  double quota = quota_v2(), period = 1;
  if (quota <= 0) {
    period = 100000;
    std::ifstream v1("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    v1 >> quota;
    v1_period >> period;
  }
  if (quota <= 0 || period <= 0) return kThreadsMax;
  return std::clamp(static_cast<int>(quota / period), 1, kThreadsMax);
}

int initial_threads() {
  if (const char* value = std::getenv("RMX_CPU_THREADS")) {
    const int threads = std::atoi(value);
    if (threads >= 1 && threads <= kThreadsMax) return threads;
  }
  return usable_threads();
}

}  // namespace

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int affine = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) affine = CPU_COUNT(&set);
  return std::clamp(std::min(affine, quota_threads()), 1, kThreadsMax);
}

RowSplit::RowSplit(int64_t rows, int64_t granule, int threads) {
  int64_t at = 0;
  begin[0] = 0;
  while (at < rows) {
    // A piece is a half share of what is left, so the last pieces are one granule and threads end together.
    int64_t size = (rows - at) / (2 * threads) / granule * granule;
    size = std::max(size, granule);
    if (count == kPiecesMax - 1) size = rows - at;
    at = std::min(rows, at + size);
    begin[++count] = at;
  }
}

ThreadPool& ThreadPool::shared() {
  // Never destroyed: MLX's stream threads may still run a job while static objects are torn down.
  static ThreadPool* pool = new ThreadPool(initial_threads());
  return *pool;
}

ThreadPool::ThreadPool(int threads) { start(threads); }

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::start(int threads) {
  stopping_.store(false);
  threads_.store(threads);
  for (int i = 1; i < threads; i++) workers_.emplace_back([this] { work(); });
}

void ThreadPool::stop() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::resize(int threads) {
  if (threads < 1 || threads > kThreadsMax) {
    throw std::invalid_argument(
        "Cannot use " + std::to_string(threads) + " CPU threads: 1 to " + std::to_string(kThreadsMax) + " are allowed");
  }
  std::lock_guard lock(job_);
  if (threads == threads_.load()) return;
  stop();
  start(threads);
}

void ThreadPool::drain() {
  while (true) {
    uint64_t ticket = ticket_.load(std::memory_order_relaxed);
    if (next_of(ticket) >= chunks_of(ticket)) return;
    ticket = ticket_.fetch_add(1, std::memory_order_acquire);
    if (next_of(ticket) >= chunks_of(ticket)) return;
    body_(context_, static_cast<int>(next_of(ticket)));
    done_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::wait_until_done(uint32_t chunks) {
  // Most waits end within this many turns, without a look at the clock.
  constexpr int kTurns = 2000;
  for (int spins = 0; spins < kTurns; spins++) {
    if (done_.load(std::memory_order_acquire) == chunks) return;
    pause();
  }
  const auto start = Clock::now();
  auto now = start;
  while (done_.load(std::memory_order_acquire) != chunks) {
    now = Clock::now();
    // The worker may need this core.
    if (now - start > kYield) {
      sched_yield();
    } else {
      pause();
    }
  }
  note_lateness(now - start, now);
}

void ThreadPool::note_lateness(Clock::duration waited, Clock::time_point now) {
  if (waited < kLate) return;
  pause_ = now - last_late_ < 4 * kPauseMax ? std::min<Clock::duration>(2 * pause_, kPauseMax) : kPauseMin;
  pause_ = std::max<Clock::duration>(pause_, kPauseMin);
  last_late_ = now;
  alone_until_ = now + pause_;
  alone_ = true;
}

bool ThreadPool::alone() {
  // The clock is read every few jobs only.
  if (alone_ && ++jobs_alone_ % 8 == 0) alone_ = Clock::now() < alone_until_;
  return alone_;
}

void ThreadPool::run_chunks(int chunks, ChunkBody body, void* context) {
  if (chunks <= 0) return;
  std::unique_lock lock(job_, std::defer_lock);
  // Another stream's job has the workers: do it alone rather than wait.
  if (chunks == 1 || threads() == 1 || chunks > static_cast<int>(kCountMask / 2) || !lock.try_lock() || alone()) {
    for (int chunk = 0; chunk < chunks; chunk++) body(context, chunk);
    return;
  }
  body_ = body;
  context_ = context;
  done_.store(0, std::memory_order_relaxed);
  const uint64_t generation = (ticket_.load(std::memory_order_relaxed) >> (2 * kCountBits)) + 1;
  ticket_.store(pack(generation, chunks), std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }
  drain();
  wait_until_done(chunks);
}

void ThreadPool::work() {
  auto has_work = [this] {
    const uint64_t ticket = ticket_.load(std::memory_order_seq_cst);
    return next_of(ticket) < chunks_of(ticket);
  };
  while (!stopping_.load(std::memory_order_relaxed)) {
    drain();
    const auto until = Clock::now() + kSpin;
    bool found = false;
    while (!found && Clock::now() < until) {
      for (int i = 0; i < 16 && !found; i++) {
        pause();
        found = has_work();
      }
    }
    if (found) continue;
    const uint32_t epoch = epoch_.load();
    sleepers_.fetch_add(1);
    if (!has_work() && !stopping_.load()) epoch_.wait(epoch);
    sleepers_.fetch_sub(1);
  }
}

}  // namespace rmx::cpu
