// Arrays: life, data in and out, properties, lists of arrays, the error message of a thread.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>

#include "guard.h"

namespace mx = mlx::core;

namespace cmlx {

namespace {
thread_local std::string last_error = "no call of this thread has failed";

const mx::Dtype dtypes[] = {mx::bool_, mx::uint8, mx::uint16,  mx::uint32,  mx::uint64,  mx::int8,     mx::int16,
                            mx::int32, mx::int64, mx::float16, mx::float32, mx::float64, mx::bfloat16, mx::complex64};

size_t count_of(const mx::Shape &shape) {
  size_t count = 1;
  for (auto length : shape) {
    if (length < 0) throw std::invalid_argument("a shape with a negative length");
    if (length > 0 && count > std::numeric_limits<size_t>::max() / 16 / static_cast<size_t>(length)) {
      throw std::invalid_argument("a shape with more elements than memory can have");
    }
    count *= static_cast<size_t>(length);
  }
  return count;
}

mx::array copied(const void *data, mx::Shape shape, mx::Dtype type) {
  auto bytes = count_of(shape) * size_of(type);
  auto buffer = mx::allocator::malloc(bytes);
  if (bytes > 0) std::memcpy(buffer.raw_ptr(), data, bytes);
  return mx::array(buffer, std::move(shape), type);
}

/// An array over memory that MLX's CPU allocator doesn't own. Its buffers begin with a size word, which foreign memory
/// lacks; so the array is a small buffer of the allocator's own, and an offset from there to the data (in elements,
/// hence the alignment that the caller has checked). What MLX may donate or ask the size of is then always its own.
mx::array adopted(void *data, mx::Shape shape, mx::Dtype type, std::function<void()> release) {
  auto bytes = count_of(shape) * size_of(type);
  auto anchor = mx::allocator::malloc(size_of(type));
  count_borrowed(static_cast<int64_t>(bytes));
  auto distance = static_cast<char *>(data) - static_cast<char *>(anchor.raw_ptr());
  mx::array base(anchor, mx::Shape{1}, type, [release = std::move(release), bytes](mx::allocator::Buffer buffer) {
    mx::allocator::free(buffer);
    release();
    count_borrowed(-static_cast<int64_t>(bytes));
  });
  mx::array result(std::move(shape), type, nullptr, {});
  auto size = result.size();
  mx::Strides strides(result.ndim(), 1);
  for (int axis = static_cast<int>(result.ndim()) - 2; axis >= 0; axis--) {
    strides[axis] = strides[axis + 1] * result.shape(axis + 1);
  }
  auto one_long = 0;
  for (auto length : result.shape()) one_long += length > 1;
  mx::array::Flags flags{true, true, one_long <= 1};
  result.copy_shared_buffer(base, strides, flags, size, distance / static_cast<int64_t>(size_of(type)));
  result.set_status(mx::array::Status::available);
  return result;
}

/// Copies a strided array row by row; `inner` is the longest run that lies in one piece.
void gather_rows(const mx::array &a, char *out) {
  auto item = a.itemsize();
  auto source = a.data<char>();
  size_t inner = 1;
  int outer = static_cast<int>(a.ndim());
  while (outer > 0 && (a.strides(outer - 1) == static_cast<int64_t>(inner) || a.shape(outer - 1) == 1)) {
    inner *= static_cast<size_t>(a.shape(--outer));
  }
  std::vector<int> index(outer, 0);
  for (size_t done = 0; done < a.size(); done += inner) {
    int64_t offset = 0;
    for (int axis = 0; axis < outer; axis++) offset += index[axis] * a.strides(axis);
    std::memcpy(out + done * item, source + offset * static_cast<int64_t>(item), inner * item);
    for (int axis = outer - 1; axis >= 0 && ++index[axis] == a.shape(axis); axis--) index[axis] = 0;
  }
}

template <typename To>
To scalar_as(const mx::array &a) {
  switch (a.dtype().val()) {
    case mx::Dtype::Val::bool_: return static_cast<To>(*a.data<bool>());
    case mx::Dtype::Val::uint8: return static_cast<To>(*a.data<uint8_t>());
    case mx::Dtype::Val::uint16: return static_cast<To>(*a.data<uint16_t>());
    case mx::Dtype::Val::uint32: return static_cast<To>(*a.data<uint32_t>());
    case mx::Dtype::Val::uint64: return static_cast<To>(*a.data<uint64_t>());
    case mx::Dtype::Val::int8: return static_cast<To>(*a.data<int8_t>());
    case mx::Dtype::Val::int16: return static_cast<To>(*a.data<int16_t>());
    case mx::Dtype::Val::int32: return static_cast<To>(*a.data<int32_t>());
    case mx::Dtype::Val::int64: return static_cast<To>(*a.data<int64_t>());
    case mx::Dtype::Val::float16: return static_cast<To>(static_cast<float>(*a.data<mx::float16_t>()));
    case mx::Dtype::Val::bfloat16: return static_cast<To>(static_cast<float>(*a.data<mx::bfloat16_t>()));
    case mx::Dtype::Val::float32: return static_cast<To>(*a.data<float>());
    case mx::Dtype::Val::float64: return static_cast<To>(*a.data<double>());
    case mx::Dtype::Val::complex64: return static_cast<To>(a.data<mx::complex64_t>()->real());
  }
  throw std::invalid_argument("an array of an unknown dtype");
}

template <typename To>
void write_scalar(const mx::array &a, void *out) {
  auto value = scalar_as<To>(a);
  std::memcpy(out, &value, sizeof(To));
}

const mx::array &evaluated(cmlx_array handle) {
  in(handle);
  handle->value.eval();
  return handle->value;
}
}  // namespace

void set_error(const char *message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
}

mx::Dtype dtype(cmlx_dtype code) {
  if (code < 0 || code > CMLX_COMPLEX64) throw std::invalid_argument("an unknown dtype");
  return dtypes[code];
}

cmlx_dtype code(mx::Dtype dtype) {
  for (int i = 0; i <= CMLX_COMPLEX64; i++) {
    if (dtypes[i] == dtype) return static_cast<cmlx_dtype>(i);
  }
  return CMLX_FLOAT32;
}

}  // namespace cmlx

using namespace cmlx;

const char *cmlx_last_error(void) { return last_error.c_str(); }

cmlx_array cmlx_array_retain(cmlx_array array) {
  return make([&] { return in(array); });
}

void cmlx_array_free(cmlx_array array) { delete array; }

cmlx_array cmlx_array_copy(const void *data, const int32_t *lengths, size_t ndim, cmlx_dtype type) {
  return make([&] { return copied(data, shape(lengths, ndim), dtype(type)); });
}

cmlx_array cmlx_array_wrap(void *data, const int32_t *lengths, size_t ndim, cmlx_dtype type, void *context,
                           void (*finalizer)(void *)) {
  auto failed = true;
  auto result = make([&] {
    auto element = dtype(type);
    auto form = shape(lengths, ndim);
    count_of(form);
    auto aligned = reinterpret_cast<uintptr_t>(data) % size_of(element) == 0;
    if (aligned && !mx::is_available(mx::Device::gpu)) {
      auto release = [context, finalizer] { finalizer(context); };
      auto wrapped = adopted(data, std::move(form), element, release);
      failed = false;
      return wrapped;
    }
    auto copy = copied(data, std::move(form), element);
    failed = false;
    finalizer(context);
    return copy;
  });
  if (failed) finalizer(context);
  return result;
}

cmlx_array cmlx_array_scalar(double value, cmlx_dtype type) {
  return make([&] {
    auto element = dtype(type);
    return element == mx::float64 ? mx::array(value, element) : mx::array(static_cast<float>(value), element);
  });
}

cmlx_array cmlx_array_scalar_int(int64_t value, cmlx_dtype type) {
  return make([&] { return mx::array(value, dtype(type)); });
}

size_t cmlx_array_ndim(cmlx_array array) { return array ? array->value.ndim() : 0; }
size_t cmlx_array_size(cmlx_array array) { return array ? array->value.size() : 0; }
size_t cmlx_array_itemsize(cmlx_array array) { return array ? array->value.itemsize() : 0; }
size_t cmlx_array_nbytes(cmlx_array array) { return array ? array->value.nbytes() : 0; }
cmlx_dtype cmlx_array_dtype(cmlx_array array) { return array ? code(array->value.dtype()) : CMLX_FLOAT32; }
const int32_t *cmlx_array_shape(cmlx_array array) { return array ? array->value.shape().data() : nullptr; }
const int64_t *cmlx_array_strides(cmlx_array array) { return array ? array->value.strides().data() : nullptr; }

bool cmlx_array_read(cmlx_array array, void *out) {
  return run([&] {
    auto &a = evaluated(array);
    if (a.size() == 0) return;
    if (a.flags().row_contiguous) {
      std::memcpy(out, a.data<char>(), a.nbytes());
    } else {
      gather_rows(a, static_cast<char *>(out));
    }
  });
}

const void *cmlx_array_data(cmlx_array array, bool *row_contiguous) {
  return guarded<const void *>(nullptr, [&]() -> const void * {
    auto &a = evaluated(array);
    *row_contiguous = a.flags().row_contiguous;
    return a.data<void>();
  });
}

bool cmlx_array_item(cmlx_array array, cmlx_dtype type, void *out) {
  return run([&] {
    auto &a = evaluated(array);
    if (a.size() != 1) {
      throw std::invalid_argument("item() wants an array of 1 element, found " + std::to_string(a.size()));
    }
    switch (type) {
      case CMLX_BOOL: return write_scalar<bool>(a, out);
      case CMLX_UINT8: return write_scalar<uint8_t>(a, out);
      case CMLX_UINT16: return write_scalar<uint16_t>(a, out);
      case CMLX_UINT32: return write_scalar<uint32_t>(a, out);
      case CMLX_UINT64: return write_scalar<uint64_t>(a, out);
      case CMLX_INT8: return write_scalar<int8_t>(a, out);
      case CMLX_INT16: return write_scalar<int16_t>(a, out);
      case CMLX_INT32: return write_scalar<int32_t>(a, out);
      case CMLX_INT64: return write_scalar<int64_t>(a, out);
      case CMLX_FLOAT32: return write_scalar<float>(a, out);
      case CMLX_FLOAT64: return write_scalar<double>(a, out);
      default: throw std::invalid_argument("item() can't return this dtype");
    }
  });
}

char *cmlx_array_description(cmlx_array array) {
  return guarded<char *>(nullptr, [&] {
    std::ostringstream text;
    text << evaluated(array);
    return strdup(text.str().c_str());
  });
}

void cmlx_string_free(char *string) { std::free(string); }

size_t cmlx_list_count(cmlx_list list) { return list ? list->values.size() : 0; }

cmlx_array cmlx_list_get(cmlx_list list, size_t index) {
  return make([&] { return list->values.at(index); });
}

void cmlx_list_free(cmlx_list list) { delete list; }

cmlx_list cmlx_list_new(const cmlx_array *handles, size_t count) {
  return make_list([&] { return arrays(handles, count); });
}
