// Files: safetensors and npy, on disk and in memory.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include "guard.h"

namespace mx = mlx::core;
using namespace cmlx;

struct cmlx_archive_object {
  std::vector<std::pair<std::string, mx::array>> arrays;
  std::vector<std::pair<std::string, std::string>> metadata;
};

namespace {
/// Refuses a safetensors file that ends before its last array: MLX would hand out what happens to be in memory instead.
/// `head` is the first 8 bytes, the length of the header; the arrays lie after it without gaps.
void expect_whole(const mx::SafetensorsLoad &loaded, uint64_t head, uint64_t size, const std::string &where) {
  uint64_t wanted = sizeof(head) + head;
  for (auto &entry : loaded.first) wanted += entry.second.nbytes();
  if (size >= wanted) return;
  throw std::runtime_error("[load_safetensors] " + where + " ends too early: " + std::to_string(size) + " bytes, " +
                           std::to_string(wanted) + " are wanted");
}

uint64_t first_word(const void *data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

cmlx_archive archive_of(mx::SafetensorsLoad &&loaded) {
  auto archive = new cmlx_archive_object;
  for (auto &entry : loaded.first) archive->arrays.emplace_back(entry.first, entry.second);
  for (auto &entry : loaded.second) archive->metadata.emplace_back(entry.first, entry.second);
  return archive;
}

/// Bytes in memory that are read, with a position, as a file would be.
class MemoryReader : public mx::io::Reader {
 public:
  MemoryReader(const void *data, size_t size)
      : bytes_(static_cast<const char *>(data), static_cast<const char *>(data) + size) {}
  bool is_open() const override { return true; }
  bool good() const override { return true; }
  size_t tell() override { return position_; }
  void seek(int64_t off, std::ios_base::seekdir way = std::ios_base::beg) override {
    auto from = way == std::ios_base::beg ? 0 : way == std::ios_base::cur ? position_ : bytes_.size();
    position_ = from + static_cast<size_t>(off);
  }
  void read(char *data, size_t n) override {
    read(data, n, position_);
    position_ += n;
  }
  void read(char *data, size_t n, size_t offset) override {
    if (offset > bytes_.size() || n > bytes_.size() - offset) {
      throw std::runtime_error("safetensors data ends too early: " + std::to_string(n) + " bytes wanted at " +
                               std::to_string(offset) + ", the size is " + std::to_string(bytes_.size()));
    }
    std::memcpy(data, bytes_.data() + offset, n);
  }
  std::string label() const override { return "memory"; }

 private:
  std::vector<char> bytes_;
  size_t position_ = 0;
};

/// Bytes that are written into memory, one after the other.
class MemoryWriter : public mx::io::Writer {
 public:
  bool is_open() const override { return true; }
  bool good() const override { return true; }
  size_t tell() override { return bytes.size(); }
  void seek(int64_t, std::ios_base::seekdir = std::ios_base::beg) override {
    throw std::runtime_error("memory output can't seek");
  }
  void write(const char *data, size_t n) override { bytes.insert(bytes.end(), data, data + n); }
  std::string label() const override { return "memory"; }

  std::vector<char> bytes;
};

template <typename Target>
void save_to(Target &&target, cmlx_archive archive) {
  std::unordered_map<std::string, mx::array> named(archive->arrays.begin(), archive->arrays.end());
  std::unordered_map<std::string, std::string> metadata(archive->metadata.begin(), archive->metadata.end());
  mx::save_safetensors(target, std::move(named), std::move(metadata));
}
}  // namespace

cmlx_archive cmlx_load_safetensors(const char *path, cmlx_stream s) {
  return guarded<cmlx_archive>(nullptr, [&] {
    auto loaded = mx::load_safetensors(std::string(path), stream(s));
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    auto size = static_cast<uint64_t>(file.tellg());
    char word[8];
    if (!file.seekg(0).read(word, sizeof(word))) throw std::runtime_error("can't read " + std::string(path));
    expect_whole(loaded, first_word(word), size, path);
    return archive_of(std::move(loaded));
  });
}

cmlx_archive cmlx_load_safetensors_bytes(const void *data, size_t size, cmlx_stream s) {
  return guarded<cmlx_archive>(nullptr, [&] {
    auto loaded = mx::load_safetensors(std::make_shared<MemoryReader>(data, size), stream(s));
    expect_whole(loaded, first_word(data), size, "the data");
    return archive_of(std::move(loaded));
  });
}

cmlx_archive cmlx_archive_new(void) { return new cmlx_archive_object; }

bool cmlx_archive_add(cmlx_archive archive, const char *name, cmlx_array array) {
  return run([&] { archive->arrays.emplace_back(name, in(array)); });
}

void cmlx_archive_add_metadata(cmlx_archive archive, const char *key, const char *value) {
  archive->metadata.emplace_back(key, value);
}

bool cmlx_save_safetensors(cmlx_archive archive, const char *path) {
  return run([&] { save_to(std::string(path), archive); });
}

void *cmlx_save_safetensors_bytes(cmlx_archive archive, size_t *size) {
  return guarded<void *>(nullptr, [&] {
    auto writer = std::make_shared<MemoryWriter>();
    save_to(writer, archive);
    *size = writer->bytes.size();
    auto bytes = std::malloc(writer->bytes.size());
    if (bytes == nullptr) throw std::bad_alloc();
    return std::memcpy(bytes, writer->bytes.data(), writer->bytes.size());
  });
}

void cmlx_bytes_free(void *bytes) { std::free(bytes); }

size_t cmlx_archive_count(cmlx_archive archive) { return archive->arrays.size(); }
const char *cmlx_archive_name(cmlx_archive archive, size_t index) { return archive->arrays[index].first.c_str(); }
cmlx_array cmlx_archive_array(cmlx_archive archive, size_t index) {
  return make([&] { return archive->arrays.at(index).second; });
}
size_t cmlx_archive_metadata_count(cmlx_archive archive) { return archive->metadata.size(); }
const char *cmlx_archive_metadata_key(cmlx_archive archive, size_t index) {
  return archive->metadata[index].first.c_str();
}
const char *cmlx_archive_metadata_value(cmlx_archive archive, size_t index) {
  return archive->metadata[index].second.c_str();
}
void cmlx_archive_free(cmlx_archive archive) { delete archive; }

cmlx_array cmlx_load(const char *path, cmlx_stream s) {
  return make([&] { return mx::load(std::string(path), stream(s)); });
}

bool cmlx_save(const char *path, cmlx_array array) {
  return run([&] { mx::save(std::string(path), in(array)); });
}
