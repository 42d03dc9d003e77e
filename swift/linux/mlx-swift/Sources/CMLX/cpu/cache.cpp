// Pages of keys and values: growing, sharing, writing.
#include "cache.h"

#include <cstring>

namespace rmx::cpu {

CachePage::CachePage(size_t bytes)
    : buffer_(mlx::core::allocator::malloc(bytes)), data_(static_cast<char*>(buffer_.raw_ptr())) {}

CachePage::~CachePage() { mlx::core::allocator::free(buffer_); }

Cache::Cache(int kv_heads, int head_dim, int value_dim, Element element)
    : kv_heads_(kv_heads), head_dim_(head_dim), value_dim_(value_dim), element_(element) {
  if (kv_heads < 1 || head_dim < 1 || value_dim < 1 || head_dim > kHeadDimMax || value_dim > kHeadDimMax) {
    throw std::invalid_argument(
        "Cannot keep keys and values of " + std::to_string(kv_heads) + " heads of " + std::to_string(head_dim) +
        " and " + std::to_string(value_dim) + " elements: 1 to " + std::to_string(kHeadDimMax) +
        " elements are allowed");
  }
}

size_t Cache::page_bytes() const {
  return size_t{kKeyBlock} * kv_heads_ * (head_dim_ + value_dim_) * element_size(element_);
}

std::shared_ptr<Cache> Cache::fork(int64_t rows) const {
  auto copy = std::make_shared<Cache>(*this);
  copy->truncate(rows);
  return copy;
}

void Cache::prepare(int64_t first, int64_t rows) {
  const int64_t pages = (rows + kKeyBlock - 1) / kKeyBlock;
  for (int64_t page = first / kKeyBlock; page < pages; page++) {
    if (page >= this->pages()) {
      pages_.push_back(std::make_shared<CachePage>(page_bytes()));
    } else if (pages_[page].use_count() > 1) {
      auto own = std::make_shared<CachePage>(page_bytes());
      std::memcpy(own->data(), pages_[page]->data(), page_bytes());
      pages_[page] = std::move(own);
    }
  }
}

void Cache::truncate(int64_t rows) {
  const int64_t kept = (rows + kKeyBlock - 1) / kKeyBlock;
  if (kept < pages()) pages_.resize(kept);
}

char* Cache::key_at(int64_t row, int head) const {
  const int64_t element = (int64_t{head} * kKeyBlock + row % kKeyBlock) * head_dim_;
  return pages_[row / kKeyBlock]->data() + element * element_size(element_);
}

char* Cache::value_at(int64_t row, int head) const {
  const int64_t keys = int64_t{kv_heads_} * kKeyBlock * head_dim_;
  const int64_t element = keys + (int64_t{head} * kKeyBlock + row % kKeyBlock) * value_dim_;
  return pages_[row / kKeyBlock]->data() + element * element_size(element_);
}

void Cache::write(int64_t row, int head, const float* key, const float* value) {
  if (element_ == Element::f32) {
    std::memcpy(key_at(row, head), key, head_dim_ * sizeof(float));
    std::memcpy(value_at(row, head), value, value_dim_ * sizeof(float));
    return;
  }
  kernels().narrow(element_, key, head_dim_, reinterpret_cast<uint16_t*>(key_at(row, head)));
  kernels().narrow(element_, value, value_dim_, reinterpret_cast<uint16_t*>(value_at(row, head)));
}

KeyBlock Cache::block(int head, int64_t block, int count) const {
  const int64_t row = block * kKeyBlock;
  return {key_at(row, head), value_at(row, head), head_dim_, value_dim_, element_, count};
}

}  // namespace rmx::cpu
