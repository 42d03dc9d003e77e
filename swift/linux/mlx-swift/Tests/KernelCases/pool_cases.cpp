// The pool: every chunk runs exactly once, whatever the threads, also when two threads call at once or it is resized.
#include <atomic>
#include <thread>
#include <vector>

#include "kinds.h"
#include "threads.h"

namespace rmx::cpu::cases {

namespace {

/// Jobs of `chunks` chunks; each chunk counts itself and reads what the job before it wrote.
bool run_jobs(ThreadPool& pool, int jobs, int chunks) {
  std::vector<int> runs(chunks, 0);
  for (int job = 0; job < jobs; job++) {
    pool.run(chunks, [&](int chunk) { runs[chunk]++; });
    for (int count : runs) {
      if (count != job + 1) return false;
    }
  }
  return true;
}

}  // namespace

void pool(Case& item) {
  const int threads = item.random.between(1, 4), chunks = item.random.between(1, 96), jobs = item.random.between(1, 60);
  const int64_t rows = item.random.between(1, 50000), granule = item.random.pick({1, 8, 16, 31});
  item.report.describe(
      std::to_string(threads) + " threads, " + std::to_string(jobs) + " jobs of " + std::to_string(chunks) +
      " chunks, " + std::to_string(rows) + " rows by " + std::to_string(granule));
  ThreadPool own(threads);
  bool other = false;
  std::thread caller([&] { other = run_jobs(own, jobs, chunks); });
  const bool here = run_jobs(own, jobs, chunks);
  caller.join();
  item.report.expect(here && other, "a chunk did not run once");
  own.resize(item.random.between(1, 4));
  std::vector<char> seen(rows, 0);
  std::atomic<bool> aligned{true};
  own.run_rows(rows, granule, [&](int64_t begin, int64_t end) {
    if (begin % granule != 0) aligned = false;
    for (int64_t row = begin; row < end; row++) seen[row]++;
  });
  bool once = true;
  for (char count : seen) once = once && count == 1;
  item.report.expect(once, "a row did not run once");
  item.report.expect(aligned, "a piece began between two granules");
}

}  // namespace rmx::cpu::cases
