// What a case says: its operands in words, checks that failed, and how close errors came to their bounds.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kernels.h"
#include "random.h"

namespace rmx::cpu::cases {

/// Failures and sums of a run.
class Report {
 public:
  using Sink = std::function<void(const std::string&)>;
  explicit Report(Sink sink) : sink_(std::move(sink)) {}

  void begin(const std::string& kind, uint64_t seed, int number);
  /// In words, for failures.
  void describe(const std::string& operands) { operands_ = operands; }
  void expect(bool holds, const std::string& what);
  /// An error against its bound; NaN fails.
  void expect_within(double error, double bound, const std::string& what);

  int64_t checks() const { return checks_; }
  std::string summary() const;

 private:
  struct Sum {
    int cases = 0;
    /// Largest error over its bound.
    double closest = 0;
  };
  Sink sink_;
  std::map<std::string, Sum> sums_;
  std::string kind_, place_, operands_;
  int64_t checks_ = 0;
};

/// One case.
struct Case {
  Report& report;
  Random random;
  int64_t macs_max;
};

/// Runs `body` with every variant of this machine, then puts the former one back. `text` names it.
void with_every_variant(const std::function<void(const Kernels&, const std::string& text)>& body);

/// A number of threads of the shared pool, for a scope.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// An arithmetic of the process, for a scope.
class UseArithmetic {
 public:
  explicit UseArithmetic(Arithmetic mode) : before_(arithmetic()) { set_arithmetic(mode); }
  ~UseArithmetic() { set_arithmetic(before_); }
  UseArithmetic(const UseArithmetic&) = delete;
  UseArithmetic& operator=(const UseArithmetic&) = delete;

 private:
  Arithmetic before_;
};

const char* name_of(Arithmetic mode);
const char* name_of(Element element);

/// One rounding of float32, relative.
constexpr double kUnit = 0x1p-24;
/// What `roundings` in a row can make of 1, less 1.
inline double roundings(double count) { return count * kUnit / (1 - count * kUnit); }
inline int log2_of(int lanes) { return lanes == 16 ? 4 : 3; }

}  // namespace rmx::cpu::cases
