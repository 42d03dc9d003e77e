// Element types, converted one by one through float64: the oracle of the kernels' conversions and of every reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "kernels.h"

namespace rmx::cpu::cases {

/// Bits of float16 or bfloat16 nearest to `value`, ties to even.
inline uint16_t encode_half(Element element, float value) {
  const int fraction = element == Element::f16 ? 10 : 7, least = element == Element::f16 ? -14 : -126;
  const int bias = -least + 1, top = element == Element::f16 ? 31 : 255;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | top << fraction | 1 << (fraction - 1));
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  const auto infinity = static_cast<uint16_t>(sign | top << fraction);
  if (std::isinf(magnitude)) return infinity;
  int exponent = std::ilogb(magnitude);
  if (exponent < least) exponent = least;
  double steps = std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  if (steps >= std::ldexp(1.0, fraction + 1)) {
    exponent++;
    steps /= 2;
  }
  if (exponent + bias >= top) return infinity;
  const auto whole = static_cast<uint32_t>(steps);
  if (whole < 1u << fraction) return static_cast<uint16_t>(sign | whole);
  return static_cast<uint16_t>(sign | (exponent + bias) << fraction | (whole - (1u << fraction)));
}

/// The number that float16 or bfloat16 bits stand for; float32 holds every one of them.
inline float decode_half(Element element, uint16_t bits) {
  const int fraction = element == Element::f16 ? 10 : 7, bias = element == Element::f16 ? 15 : 127;
  const int top = element == Element::f16 ? 31 : 255;
  const int exponent = (bits & 0x7fff) >> fraction, low = bits & ((1 << fraction) - 1);
  double magnitude = exponent == 0 ? std::ldexp(low, 1 - bias - fraction)
                                   : std::ldexp(low + (1 << fraction), exponent - bias - fraction);
  if (exponent == top) {
    magnitude = low ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  return static_cast<float>(bits & 0x8000 ? -magnitude : magnitude);
}

/// The number that a float of 4 (E2M1) or 8 (E4M3) bits stands for; all codes are finite.
inline double decode_small(Format format, unsigned code) {
  const int fraction = format == Format::mxfp4 ? 1 : 3, bits = format == Format::mxfp4 ? 4 : 8;
  const int bias = format == Format::mxfp4 ? 1 : 7, low = static_cast<int>(code & ((1u << fraction) - 1));
  const int exponent = static_cast<int>(code >> fraction) & ((1 << (bits - 1 - fraction)) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(low, 1 - bias - fraction)
                                         : std::ldexp(low + (1 << fraction), exponent - bias - fraction);
  return code >> (bits - 1) & 1 ? -magnitude : magnitude;
}

/// Memory of exactly `size` bytes at `offset` past a multiple of 64, so that a sanitizer sees the first byte too many.
class Exact {
 public:
  explicit Exact(int64_t size, int64_t offset = 0)
      : memory_(static_cast<char*>(::operator new(static_cast<size_t>(size + offset), std::align_val_t{64}))),
        offset_(offset) {}
  ~Exact() {
    if (memory_) ::operator delete(memory_, std::align_val_t{64});
  }
  Exact(Exact&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), offset_(other.offset_) {}
  Exact& operator=(Exact&&) = delete;

  template <class T = char>
  T* data() const {
    return reinterpret_cast<T*>(memory_ + offset_);
  }

 private:
  char* memory_;
  int64_t offset_;
};

inline int bytes_of(Element element) { return element_size(element); }

/// Numbers stored as an element type; `values` are what is stored, rounded.
class Stored {
 public:
  Stored(Element element, const std::vector<float>& numbers, int64_t offset = 0)
      : element_(element), values_(numbers), memory_(static_cast<int64_t>(numbers.size()) * bytes_of(element), offset) {
    for (size_t i = 0; i < numbers.size(); i++) {
      if (element == Element::f32) {
        memory_.data<float>()[i] = numbers[i];
      } else if (element == Element::e8m0) {
        // Powers of two only.
        memory_.data<uint8_t>()[i] = static_cast<uint8_t>(std::ilogb(numbers[i]) + 127);
      } else {
        const uint16_t bits = encode_half(element, numbers[i]);
        memory_.data<uint16_t>()[i] = bits;
        values_[i] = decode_half(element, bits);
      }
    }
  }
  Element element() const { return element_; }
  const void* data() const { return memory_.data(); }
  const std::vector<float>& values() const { return values_; }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }

 private:
  Element element_;
  std::vector<float> values_;
  Exact memory_;
};

/// Whether two runs of floats have the same bits.
inline bool same_bits(const float* a, const float* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(float)) == 0;
}

}  // namespace rmx::cpu::cases
