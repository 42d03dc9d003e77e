// Random numbers: MLX's counter-based generator, always with an explicit key.
#include "guard.h"

namespace rnd = mlx::core::random;
using namespace cmlx;

cmlx_array cmlx_random_key(uint64_t seed) {
  return make([&] { return rnd::key(seed); });
}
cmlx_array cmlx_random_split(cmlx_array key, int32_t count, cmlx_stream s) {
  return make([&] { return rnd::split(in(key), count, stream(s)); });
}
cmlx_array cmlx_random_uniform(cmlx_array low, cmlx_array high, const int32_t *lengths, size_t ndim, cmlx_dtype type,
                               cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::uniform(in(low), in(high), shape(lengths, ndim), dtype(type), in(key), stream(s)); });
}
cmlx_array cmlx_random_normal(const int32_t *lengths, size_t ndim, cmlx_dtype type, float loc, float scale,
                              cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::normal(shape(lengths, ndim), dtype(type), loc, scale, in(key), stream(s)); });
}
cmlx_array cmlx_random_randint(cmlx_array low, cmlx_array high, const int32_t *lengths, size_t ndim, cmlx_dtype type,
                               cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::randint(in(low), in(high), shape(lengths, ndim), dtype(type), in(key), stream(s)); });
}
cmlx_array cmlx_random_bernoulli(cmlx_array p, const int32_t *lengths, size_t ndim, cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::bernoulli(in(p), shape(lengths, ndim), in(key), stream(s)); });
}
cmlx_array cmlx_random_gumbel(const int32_t *lengths, size_t ndim, cmlx_dtype type, cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::gumbel(shape(lengths, ndim), dtype(type), in(key), stream(s)); });
}
cmlx_array cmlx_random_categorical(cmlx_array logits, int32_t axis, cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::categorical(in(logits), axis, in(key), stream(s)); });
}
cmlx_array cmlx_random_categorical_shape(cmlx_array logits, int32_t axis, const int32_t *lengths, size_t ndim,
                                         cmlx_array key, cmlx_stream s) {
  return make([&] { return rnd::categorical(in(logits), axis, shape(lengths, ndim), in(key), stream(s)); });
}
cmlx_array cmlx_random_categorical_count(cmlx_array logits, int32_t axis, int32_t count, cmlx_array key,
                                         cmlx_stream s) {
  return make([&] { return rnd::categorical(in(logits), axis, count, in(key), stream(s)); });
}
