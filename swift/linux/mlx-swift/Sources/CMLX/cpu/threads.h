// The thread pool of the CPU primitives.
//
// One job at a time: chunks numbered from 0, claimed one by one by the calling thread and the workers, so a worker
// that the system has taken off its core costs nothing unless it holds a chunk. When that happens, the caller works
// alone for a while, longer each time it happens again. Which thread runs a chunk never changes a bit: every output
// element belongs to exactly one chunk. Workers spin briefly for the next job, then sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace rmx::cpu {

/// Threads that this process may use: its affinity mask, capped by the cgroup's CPU quota; at least 1, at most 64.
int usable_threads();

/// A guided split of `rows`: large pieces first, small ones last, borders at multiples of `granule`.
struct RowSplit {
  static constexpr int kPiecesMax = 96;
  int count = 0;
  int64_t begin[kPiecesMax + 1];
  RowSplit(int64_t rows, int64_t granule, int threads);
};

class ThreadPool {
 public:
  /// The process's pool, sized by `usable_threads()` or RMX_CPU_THREADS.
  static ThreadPool& shared();

  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads that work on a job, the caller included.
  int threads() const { return threads_.load(std::memory_order_relaxed); }

  /// Changes the number of threads (1 to 64), after the running job.
  /// Throws std::invalid_argument outside that range.
  void resize(int threads);

  /// Calls body(chunk) for every chunk in [0, chunks) and returns when all are done. `body` must not throw.
  template <class Body>
  void run(int chunks, Body&& body) {
    using Type = std::remove_reference_t<Body>;
    run_chunks(chunks, [](void* context, int chunk) { (*static_cast<Type*>(context))(chunk); }, &body);
  }

  /// Calls body(begin, end) on pieces of [0, rows) with borders at multiples of `granule`.
  template <class Body>
  void run_rows(int64_t rows, int64_t granule, Body&& body) {
    if (threads() == 1 || rows <= granule) {
      if (rows > 0) body(int64_t{0}, rows);
      return;
    }
    RowSplit split(rows, granule, threads());
    run(split.count, [&](int piece) { body(split.begin[piece], split.begin[piece + 1]); });
  }

 private:
  using ChunkBody = void (*)(void* context, int chunk);
  using Clock = std::chrono::steady_clock;

  void run_chunks(int chunks, ChunkBody body, void* context);
  void start(int threads);
  void stop();
  void work();
  /// Claims and runs chunks until none is left.
  void drain();
  void wait_until_done(uint32_t chunks);
  /// True while workers are left out because one of them was late.
  bool alone();
  void note_lateness(Clock::duration waited, Clock::time_point now);

  // generation (24 bits), chunks of the job (20 bits), next chunk (20 bits). A claim adds one to it; the job's fields
  // below cannot change while a claimed chunk is unfinished, so a claim made on a newer job than expected is still
  // sound.
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> done_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<int> threads_{1};
  ChunkBody body_ = nullptr;
  void* context_ = nullptr;
  std::mutex job_;
  // Guarded by job_.
  bool alone_ = false;
  Clock::time_point alone_until_{}, last_late_{};
  Clock::duration pause_{};
  int jobs_alone_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace rmx::cpu
