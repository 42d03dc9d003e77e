// Where the time of a step goes and how many bytes it reads: totals by stage, since the last start.
//
// Bytes are always counted, by the code that hands a job to the pool: what the job reads of weights, and of keys and
// values, once for each time that it goes through them. Time is taken only between start and stop. Stages do not nest.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "kernels.h"

namespace rmx::cpu {

enum class Stage { evaluation, embedding, norm, projections, rotation, attention, output, gate_up, down, head, other };
constexpr int kStages = static_cast<int>(Stage::other) + 1;

/// As `rmx-core bench --profile` shows it. Static storage.
const char* stage_name(Stage);

struct StageTotals {
  std::atomic<int64_t> nanoseconds{0}, bytes{0}, calls{0};
};
StageTotals& totals(Stage);

/// Zeroes all totals; times from now on.
void start_profile();
void stop_profile();
bool profiling();

inline void count_bytes(Stage stage, int64_t bytes) {
  totals(stage).bytes.fetch_add(bytes, std::memory_order_relaxed);
}

/// Bytes of codes, scales and biases.
int64_t weight_bytes(const Weight&);

/// Adds the time of its life to a stage.
class Timed {
 public:
  explicit Timed(Stage stage) : stage_(stage), on_(profiling()) {
    if (on_) start_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (!on_) return;
    const auto spent = std::chrono::steady_clock::now() - start_;
    StageTotals& sums = totals(stage_);
    sums.nanoseconds.fetch_add(
        std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count(), std::memory_order_relaxed);
    sums.calls.fetch_add(1, std::memory_order_relaxed);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Stage stage_;
  bool on_;
  std::chrono::steady_clock::time_point start_;
};

/// Bytes a second that the pool's threads read from memory: the best of `rounds` over `bytes` of it.
double read_bandwidth(int64_t bytes, int rounds);

}  // namespace rmx::cpu
