// Totals by stage, and the memory bandwidth that they are compared with.
#include "profile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "threads.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rmx::cpu {

namespace {

std::atomic<bool> profiling_now{false};
StageTotals stage_totals[kStages];
// Read by nobody, so that the compiler keeps the loads.
std::atomic<uint64_t> sink{0};

constexpr int64_t kPage = int64_t{2} << 20;

}  // namespace

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::evaluation: return "evaluation";
    case Stage::embedding: return "embedding";
    case Stage::norm: return "norm and packing";
    case Stage::projections: return "q, k and v";
    case Stage::rotation: return "rotation and cache";
    case Stage::attention: return "attention";
    case Stage::output: return "attention output";
    case Stage::gate_up: return "gate and up";
    case Stage::down: return "down";
    case Stage::head: return "head";
    case Stage::other: break;
  }
  return "other products";
}

StageTotals& totals(Stage stage) { return stage_totals[static_cast<int>(stage)]; }

void start_profile() {
  for (StageTotals& each : stage_totals) {
    each.nanoseconds = 0;
    each.bytes = 0;
    each.calls = 0;
  }
  profiling_now = true;
}

void stop_profile() { profiling_now = false; }

bool profiling() { return profiling_now.load(std::memory_order_relaxed); }

int64_t weight_bytes(const Weight& weight) {
  const int64_t element = element_size(weight.scale);
  if (weight.bits == 0) return weight.rows * weight.columns * element;
  const int64_t groups = weight.rows * (weight.columns / weight.group);
  return weight.rows * weight.columns * weight.bits / 8 + groups * element * (weight.biases ? 2 : 1);
}

double read_bandwidth(int64_t bytes, int rounds) {
  const int64_t size = std::max(bytes / kPage, int64_t{1}) * kPage;
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(kPage, size), std::free);
  if (!memory) throw std::bad_alloc();
#if defined(__linux__)
  madvise(memory.get(), size, MADV_HUGEPAGE);
#endif
  std::memset(memory.get(), 1, size);
  const auto* words = static_cast<const uint64_t*>(memory.get());
  double best = 0;
  for (int round = 0; round < rounds; round++) {
    const auto start = std::chrono::steady_clock::now();
    ThreadPool::shared().run_rows(size / 8, kPage / 8, [&](int64_t begin, int64_t end) {
      // Independent sums, so that loads and not additions set the pace.
      typedef uint64_t V __attribute__((vector_size(64)));
      V sums[4] = {};
      for (int64_t i = begin; i + 32 <= end; i += 32) {
        for (int k = 0; k < 4; k++) {
          V part;
          std::memcpy(&part, words + i + 8 * k, sizeof part);
          sums[k] += part;
        }
      }
      const V all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      sink.fetch_add(all[0] + all[7], std::memory_order_relaxed);
    });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(size) / spent.count());
  }
  return best;
}

}  // namespace rmx::cpu
