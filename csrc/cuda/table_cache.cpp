// Small tables of plans in a device's memory.
#include "cuda/table_cache.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "cuda/allocator.h"
#include "cuda/context.h"

namespace fb::cuda {
namespace {

constexpr size_t kAlign = 16, kLargestKept = 16 << 10, kMostKept = 256;

// By stream, device and contents. A table belongs to the stream that it was made on, in whose order
// it is also given back.
std::mutex mutex;
auto* const kept = new std::unordered_map<std::string, Storage>;

Storage uploaded(int device, const std::vector<char>& bytes) {
  Storage made = allocate(bytes.size(), Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  // The driver has read pageable memory when it returns.
  FB_CUDA(copy_to_device, reinterpret_cast<Address>(made->data), bytes.data(), bytes.size(),
          current_stream(device));
  return made;
}

}  // namespace

size_t TableMaker::add(const void* data, size_t bytes) {
  const size_t at = (bytes_.size() + kAlign - 1) / kAlign * kAlign;
  bytes_.resize(at + bytes);
  const auto* from = static_cast<const char*>(data);
  std::copy(from, from + bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  return at;
}

Storage TableMaker::on(int device) const {
  use(device);
  if (bytes_.empty()) return {};
  if (bytes_.size() > kLargestKept) return uploaded(device, bytes_);
  const Stream stream = current_stream(device);
  std::string key(reinterpret_cast<const char*>(&stream), sizeof stream);
  key.push_back(static_cast<char>(device));
  key.append(bytes_.data(), bytes_.size());
  {
    const std::lock_guard lock(mutex);
    if (const auto found = kept->find(key); found != kept->end()) return found->second;
  }
  // Without the lock: when memory has run out, Python is asked why, and another thread may hold its
  // lock and wait for ours. Of two threads that upload the same table the first one's is kept.
  const Storage made = uploaded(device, bytes_);
  const std::lock_guard lock(mutex);
  if (kept->size() >= kMostKept) kept->clear();
  return kept->try_emplace(std::move(key), made).first->second;
}

}  // namespace fb::cuda
