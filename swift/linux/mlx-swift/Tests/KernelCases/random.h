// Seeded numbers (splitmix64): a case is the same in every run and on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace rmx::cpu::cases {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// first to last, both included.
  int between(int first, int last) {
    return first + static_cast<int>(next() % static_cast<uint64_t>(last - first + 1));
  }

  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[next() % choices.size()];
  }

  bool chance(int percent) { return between(1, 100) <= percent; }

  /// Bell-shaped, within 4.
  float normal() {
    const uint64_t bits = next();
    float sum = 0;
    for (int part = 0; part < 4; part++) sum += static_cast<float>(bits >> (16 * part) & 0xffff) / 32768.0f - 1;
    return sum;
  }

  std::vector<float> normals(int64_t count, float scale = 1) {
    std::vector<float> values(count);
    for (float& value : values) value = normal() * scale;
    return values;
  }

 private:
  uint64_t state_;
};

}  // namespace rmx::cpu::cases
