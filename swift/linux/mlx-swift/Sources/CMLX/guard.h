// What every function of cmlx.h needs: handles to arrays and back, C arrays to MLX's vectors, exceptions to errors.
#pragma once

#include <mlx/mlx.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "include/cmlx.h"

struct cmlx_array_object {
  mlx::core::array value;
};

struct cmlx_list_object {
  std::vector<mlx::core::array> values;
};

namespace cmlx {

/// Keeps `message` for cmlx_last_error() of this thread.
void set_error(const char *message) noexcept;

/// Adds to the bytes that count as active beside those of MLX's allocator; less than 0 takes away. Any thread.
void count_borrowed(int64_t bytes);

/// Runs `body` and turns an exception into `failure` and an error message.
template <typename Result, typename Body>
Result guarded(Result failure, Body &&body) noexcept {
  try {
    return body();
  } catch (const std::exception &error) {
    set_error(error.what());
  } catch (...) {
    set_error("MLX threw something that is no std::exception");
  }
  return failure;
}

inline cmlx_array wrap(mlx::core::array &&value) { return new cmlx_array_object{std::move(value)}; }

/// An op: `body` returns an mlx::core::array.
template <typename Body>
cmlx_array make(Body &&body) noexcept {
  return guarded<cmlx_array>(nullptr, [&] { return wrap(body()); });
}

/// An op with several results: `body` returns a std::vector of arrays.
template <typename Body>
cmlx_list make_list(Body &&body) noexcept {
  return guarded<cmlx_list>(nullptr, [&] { return new cmlx_list_object{body()}; });
}

/// Something that only succeeds or fails.
template <typename Body>
bool run(Body &&body) noexcept {
  return guarded(false, [&] {
    body();
    return true;
  });
}

/// A required array.
inline const mlx::core::array &in(cmlx_array array) {
  if (array == nullptr) {
    throw std::invalid_argument("expected an array, found none (mlxNone, or the result of a call that failed)");
  }
  return array->value;
}

/// An array that may be absent.
inline std::optional<mlx::core::array> maybe(cmlx_array array) {
  return array == nullptr ? std::nullopt : std::make_optional(array->value);
}

inline std::optional<int> maybe(cmlx_optional_int value) {
  return value.has_value ? std::make_optional<int>(value.value) : std::nullopt;
}

inline std::optional<float> maybe(cmlx_optional_float value) {
  return value.has_value ? std::make_optional(value.value) : std::nullopt;
}

inline mlx::core::Shape shape(const int32_t *numbers, size_t count) {
  return mlx::core::Shape(numbers, numbers + count);
}

inline std::vector<int> ints(const int32_t *numbers, size_t count) {
  return std::vector<int>(numbers, numbers + count);
}

inline std::vector<mlx::core::array> arrays(const cmlx_array *handles, size_t count) {
  std::vector<mlx::core::array> result;
  result.reserve(count);
  for (size_t i = 0; i < count; i++) result.push_back(in(handles[i]));
  return result;
}

inline mlx::core::Stream stream(cmlx_stream s) {
  if (s.index < 0) {
    throw std::invalid_argument("there is no GPU that this libmlx can use; run on the CPU stream");
  }
  auto type = s.device == 0 ? mlx::core::Device::cpu : mlx::core::Device::gpu;
  return mlx::core::Stream(s.index, mlx::core::Device(type, s.device_index));
}

/// Both ways between our numbering and MLX's, which the header must not show.
mlx::core::Dtype dtype(cmlx_dtype code);
cmlx_dtype code(mlx::core::Dtype dtype);

}  // namespace cmlx
