// Page-locked memory of the host. Getting some takes the driver far longer than a copy, so blocks
// are kept by size, rounded up to a power of two.
#include "cuda/pinned.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "core/allocator.h"
#include "cuda/stream.h"

namespace fb::cuda {
namespace {

struct PinnedBlock {
  char* data;
  size_t bytes;
  std::vector<std::pair<int, Stream>> users;
};
struct Freed {
  PinnedBlock* block;
  std::vector<Event> events;
};

struct Cache {
  std::mutex mutex;
  std::map<const char*, PinnedBlock*> by_address;
  std::multimap<size_t, PinnedBlock*> kept;
  std::list<Freed> waiting;
};
Cache& cache = *new Cache;

void collect() {
  for (auto at = cache.waiting.begin(); at != cache.waiting.end();) {
    bool done = true;
    for (const Event event : at->events) done = done && has_happened(event);
    if (!done) {
      ++at;
      continue;
    }
    for (const Event event : at->events) destroy_event(event);
    cache.kept.emplace(at->block->bytes, at->block);
    at = cache.waiting.erase(at);
  }
}

void release(void* context) {
  auto* block = static_cast<PinnedBlock*>(context);
  const std::lock_guard lock(cache.mutex);
  Freed freed{block, {}};
  // Nothing may be raised here. The driver refuses when the process ends, or after an error that
  // ends all work: then nobody reads the block any more.
  try {
    for (const auto& [device, stream] : block->users) {
      if (is_forked()) break;
      const Event event = make_event(device, false, false);
      freed.events.push_back(event);
      record_event(device, event, stream);
    }
  } catch (const std::exception&) {
  }
  block->users.clear();
  cache.waiting.push_back(std::move(freed));
}

}  // namespace

Storage allocate_pinned(size_t bytes) {
  start(Device(DeviceType::kCuda));
  use(thread_state.device);
  const size_t rounded = std::bit_ceil(std::max<size_t>(bytes, 512));
  const std::lock_guard lock(cache.mutex);
  collect();
  PinnedBlock* block = nullptr;
  if (const auto found = cache.kept.find(rounded); found != cache.kept.end()) {
    block = found->second;
    cache.kept.erase(found);
  } else {
    constexpr unsigned kPortable = 1;
    void* data = nullptr;
    FB_CUDA(host_allocate, &data, rounded, kPortable);
    block = new PinnedBlock{static_cast<char*>(data), rounded, {}};
    cache.by_address[block->data] = block;
  }
  Storage storage = Storage::adopt(block->data, bytes, release, block);
  storage->resizable = true;
  return storage;
}

bool is_pinned(const void* address) {
  const std::lock_guard lock(cache.mutex);
  auto found = cache.by_address.upper_bound(static_cast<const char*>(address));
  if (found == cache.by_address.begin()) return false;
  const PinnedBlock& block = *std::prev(found)->second;
  return static_cast<const char*>(address) < block.data + block.bytes;
}

void hold_pinned(const Storage& storage, int device, Stream stream) {
  const StorageImpl* own = storage.get();
  while (const StorageImpl* original = original_of(*own)) own = original;
  if (own->release != release) return;
  const std::lock_guard lock(cache.mutex);
  auto& users = static_cast<PinnedBlock*>(own->context)->users;
  const std::pair user(device, stream);
  if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
}

void empty_pinned_cache() {
  if (is_forked()) return;
  const std::lock_guard lock(cache.mutex);
  if (cache.by_address.empty()) return;
  if (thread_state.bound < 0) use(thread_state.device);
  collect();
  for (const auto& [bytes, block] : cache.kept) {
    cache.by_address.erase(block->data);
    FB_CUDA(host_release, block->data);
    delete block;
  }
  cache.kept.clear();
}

}  // namespace fb::cuda
