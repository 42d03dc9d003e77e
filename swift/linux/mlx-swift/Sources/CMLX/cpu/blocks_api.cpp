// The functions of cmlx_blocks.h.
#include "../include/cmlx_blocks.h"

#include "../guard.h"
#include "blocks.h"
#include "table.h"

using namespace cmlx;
namespace cpu = rmx::cpu;

struct cmlx_cpu_cache_object {
  std::shared_ptr<cpu::Cache> value;
};
struct cmlx_cpu_feed_forward_object {
  std::shared_ptr<const cpu::FeedForward> value;
};
struct cmlx_cpu_attention_object {
  std::shared_ptr<const cpu::AttentionBlock> value;
};
struct cmlx_cpu_table_object {
  std::shared_ptr<const cpu::Matrix> value;
};

namespace {

const std::shared_ptr<cpu::Cache>& cache_of(cmlx_cpu_cache cache) {
  if (!cache) throw std::invalid_argument("expected a cache, found none");
  return cache->value;
}

cpu::Matrix matrix(const cmlx_cpu_matrix& m) {
  if (!m.scales) return cpu::Matrix::dense(m.name, in(m.weight));
  return cpu::Matrix::quantized(
      m.name, in(m.weight), in(m.scales), maybe(m.biases), m.group_size, m.bits, m.mode ? m.mode : "affine");
}

cpu::Vector bias(const cmlx_cpu_matrix& m, const cpu::Matrix& weight) {
  if (!m.bias) return {};
  return cpu::read_vector(std::string(m.name) + ".bias", in(m.bias), weight.weight().rows);
}

cpu::Norm norm(const cmlx_cpu_norm& n, int64_t width) {
  if (!n.weight) return {{}, n.epsilon};
  return {cpu::read_vector(n.name, in(n.weight), width), n.epsilon};
}

cpu::Rope rotary(const cmlx_cpu_rope& r) {
  cpu::Rope rope = {{r.dims, r.traditional}, {}, r.scale, r.amplitude};
  if (!r.periods) {
    rope.inverse = cpu::inverse_frequencies(r.dims / 2, r.base);
  } else {
    for (int i = 0; i < r.dims / 2; i++) rope.inverse.push_back(1.0f / r.periods[i]);
  }
  return rope;
}

}  // namespace

cmlx_cpu_cache cmlx_cpu_cache_new(int32_t kv_heads, int32_t head_dim, cmlx_dtype type) {
  return guarded<cmlx_cpu_cache>(nullptr, [&] {
    const auto element = cpu::element_of(dtype(type));
    if (!element) throw std::invalid_argument("a cache holds float32, float16 or bfloat16");
    return new cmlx_cpu_cache_object{std::make_shared<cpu::Cache>(kv_heads, head_dim, head_dim, *element)};
  });
}

void cmlx_cpu_cache_free(cmlx_cpu_cache cache) { delete cache; }

cmlx_cpu_cache cmlx_cpu_cache_fork(cmlx_cpu_cache cache, int64_t rows) {
  return guarded<cmlx_cpu_cache>(nullptr, [&] { return new cmlx_cpu_cache_object{cache_of(cache)->fork(rows)}; });
}

bool cmlx_cpu_cache_truncate(cmlx_cpu_cache cache, int64_t rows) {
  return run([&] { cache_of(cache)->truncate(rows); });
}

size_t cmlx_cpu_cache_nbytes(cmlx_cpu_cache cache) {
  return cache ? static_cast<size_t>(cache->value->pages()) * cache->value->page_bytes() : 0;
}

cmlx_cpu_feed_forward cmlx_cpu_feed_forward_new(
    const cmlx_cpu_norm* n, const cmlx_cpu_matrix* gate, const cmlx_cpu_matrix* up, const cmlx_cpu_matrix* down) {
  return guarded<cmlx_cpu_feed_forward>(nullptr, [&] {
    auto block = std::make_shared<cpu::FeedForward>();
    block->gate = matrix(*gate);
    block->up = matrix(*up);
    block->down = matrix(*down);
    block->gate_bias = bias(*gate, block->gate);
    block->up_bias = bias(*up, block->up);
    block->down_bias = bias(*down, block->down);
    block->norm = norm(*n, block->gate.weight().columns);
    block->check();
    return new cmlx_cpu_feed_forward_object{std::move(block)};
  });
}

void cmlx_cpu_feed_forward_free(cmlx_cpu_feed_forward block) { delete block; }

cmlx_array cmlx_cpu_feed_forward_apply(cmlx_cpu_feed_forward block, cmlx_array x, cmlx_stream s) {
  return make([&] { return cpu::feed_forward(block->value, in(x), stream(s)); });
}

cmlx_cpu_attention cmlx_cpu_attention_new(
    const cmlx_cpu_norm* n, const cmlx_cpu_matrix* query, const cmlx_cpu_matrix* key, const cmlx_cpu_matrix* value,
    const cmlx_cpu_matrix* output, const cmlx_cpu_norm* query_norm, const cmlx_cpu_norm* key_norm,
    const cmlx_cpu_rope* rope, const cmlx_cpu_attention_layout* layout) {
  return guarded<cmlx_cpu_attention>(nullptr, [&] {
    auto block = std::make_shared<cpu::AttentionBlock>();
    block->query = matrix(*query);
    block->key = matrix(*key);
    block->value = matrix(*value);
    block->output = matrix(*output);
    block->query_bias = bias(*query, block->query);
    block->key_bias = bias(*key, block->key);
    block->value_bias = bias(*value, block->value);
    block->output_bias = bias(*output, block->output);
    block->norm = norm(*n, block->query.weight().columns);
    block->query_norm = norm(*query_norm, layout->head_dim);
    block->key_norm = norm(*key_norm, layout->head_dim);
    block->rope = rotary(*rope);
    block->heads = layout->heads;
    block->kv_heads = layout->kv_heads;
    block->head_dim = layout->head_dim;
    block->scale = layout->scale;
    block->check();
    return new cmlx_cpu_attention_object{std::move(block)};
  });
}

void cmlx_cpu_attention_free(cmlx_cpu_attention block) { delete block; }

cmlx_array cmlx_cpu_attention_apply(
    cmlx_cpu_attention block, cmlx_array x, const cmlx_cpu_span* spans, size_t count, cmlx_stream s) {
  return make([&] {
    std::vector<cpu::Span> list;
    int begin = 0;
    for (size_t i = 0; i < count; i++) {
      list.push_back({begin, spans[i].count, spans[i].position, cache_of(spans[i].cache)});
      begin += spans[i].count;
    }
    return cpu::attention_block(block->value, in(x), std::move(list), stream(s));
  });
}

cmlx_cpu_table cmlx_cpu_table_new(const cmlx_cpu_matrix* m) {
  return guarded<cmlx_cpu_table>(
      nullptr, [&] { return new cmlx_cpu_table_object{std::make_shared<const cpu::Matrix>(matrix(*m))}; });
}

void cmlx_cpu_table_free(cmlx_cpu_table table) { delete table; }

cmlx_array cmlx_cpu_table_rows(cmlx_cpu_table table, cmlx_array indices, cmlx_stream s) {
  return make([&] { return cpu::table_rows(table->value, in(indices), stream(s)); });
}

cmlx_array cmlx_cpu_table_best(cmlx_cpu_table table, cmlx_array x, cmlx_stream s) {
  return make([&] { return cpu::table_best(table->value, in(x), stream(s)); });
}
