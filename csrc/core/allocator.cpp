// The caching CPU allocator.
//
// Note [Size classes]: a block holds a StorageImpl header and its data. Sizes are rounded up to one
// of four steps per power of two, so that at most a quarter of a small block is unused; blocks of
// 256 KB and more have sixteen steps. Small blocks are kept per thread without locks, large ones in
// one list under a lock, whose cost is negligible next to work on that much memory. A block may be
// freed by another thread than the one that allocated it: it joins that thread's cache.
//
// Note [What is kept]: large blocks up to a quarter of the peak of live memory, so that one large
// computation does not hold its memory for ever. A loop, such as the steps of training, asks again
// for what was returned to the system, which clears every page of it. The cache may then grow by as
// much, as long as all memory stays within 5/4 of the peak.
#include "core/allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "core/device_memory.h"
#include "core/error.h"
#include "core/profile.h"
#include "core/unseen.h"

namespace fb {
namespace {

// The number of live aliases, and a counter of aliases and addresses handed out.
std::atomic<int64_t> aliases{0};
std::atomic<uint64_t> handed_out{1};

void release_alias(void* original) {
  aliases.fetch_sub(1, std::memory_order_relaxed);
  static_cast<StorageImpl*>(original)->drop();
}

constexpr size_t kHeader = sizeof(StorageImpl);
static_assert(kHeader == 64);

constexpr size_t kLargeBlock = size_t{1} << 18;
constexpr size_t kHugePage = size_t{1} << 21;
constexpr int kSmallClasses = 64;
constexpr uint16_t kLargeClass = 0xffff;
// What one thread keeps of one class: enough for what a training step saves for its backward, too
// little to matter otherwise.
constexpr size_t kThreadCacheBytes = size_t{1} << 20;
constexpr size_t kThreadCacheBlocks = 2048;

// 128, 160, 192, 224, 256, 320, ... : class 4k+j holds (4 + j) << (k + 5).
int small_class_of(size_t bytes) {
  if (bytes <= 128) return 0;
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const int step = static_cast<int>((bytes - 1) >> (top - 2)) & 3;
  return (top - 7) * 4 + step + 1;
}
size_t small_class_bytes(int size_class) {
  return static_cast<size_t>(4 + size_class % 4) << (size_class / 4 + 5);
}
size_t large_block_bytes(size_t bytes) {
  const int shift = std::bit_width(bytes - 1) - 5;
  const size_t step = std::max<size_t>(size_t{1} << std::max(shift, 0), 4096);
  return (bytes + step - 1) / step * step;
}

// Counters with one writer each: plain stores, read by cpu_memory_stats without tearing.
struct Counter {
  std::atomic<int64_t> value{0};
  void add(int64_t n) { value.store(get() + n, std::memory_order_relaxed); }
  int64_t get() const { return value.load(std::memory_order_relaxed); }
};

struct FreeBlock {
  FreeBlock* next;
};

struct ThreadCache;
struct Shared;
Shared& shared();

// Everything shared by the threads. Leaked on purpose: storages may outlive static destruction.
struct Shared {
  std::mutex mutex;
  std::list<std::pair<size_t, void*>> large;  // most recently freed first
  std::unordered_map<size_t, std::vector<decltype(large)::iterator>> large_by_size;
  int64_t large_live = 0;
  int64_t large_cached = 0;
  int64_t peak = 0;
  int64_t floor = int64_t{256} << 20;
  std::unordered_map<size_t, int64_t> given_back;  // how many blocks of each size
  int64_t asked_again = 0;                         // bytes of those that were needed later
  int64_t large_allocations = 0;
  int64_t large_misses = 0;
  std::vector<ThreadCache*> threads;
  ThreadCache* retired = nullptr;  // counters of threads that ended

  // See Note [What is kept].
  int64_t limit() const {
    const int64_t usual = std::max(floor, peak / 4);
    return std::max(usual, std::min(usual + asked_again, peak + peak / 4 - large_live));
  }
  int64_t small_live() const;
  void trim(int64_t keep, std::vector<std::pair<size_t, void*>>& victims);
  void note_given_back(const std::vector<std::pair<size_t, void*>>& blocks) {
    for (const auto& block : blocks) ++given_back[block.first];
  }
  void note_needed(size_t bytes) {
    const auto found = given_back.find(bytes);
    if (found == given_back.end()) return;
    asked_again += static_cast<int64_t>(bytes);
    if (--found->second == 0) given_back.erase(found);
  }
  void forget_given_back() {
    given_back.clear();
    asked_again = 0;
  }
};
Shared& shared() {
  static Shared* instance = [] {
    auto* made = new Shared;
    // A forked child has one thread: it must not inherit the lock from another one.
    pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); },
                   [] { shared().mutex.unlock(); });
    return made;
  }();
  return *instance;
}

struct ThreadCache {
  FreeBlock* lists[kSmallClasses] = {};
  uint16_t counts[kSmallClasses] = {};
  Counter live_bytes, cached_bytes, allocations, misses;

  explicit ThreadCache(bool enlist = true) {
    if (!enlist) return;
    std::lock_guard lock(shared().mutex);
    shared().threads.push_back(this);
  }
  ~ThreadCache() {
    flush();
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    std::erase(s.threads, this);
    if (!s.retired) s.retired = new ThreadCache(false);
    s.retired->live_bytes.add(live_bytes.get());
    s.retired->allocations.add(allocations.get());
    s.retired->misses.add(misses.get());
  }
  void flush() {
    for (int c = 0; c < kSmallClasses; ++c) {
      while (FreeBlock* block = lists[c]) {
        lists[c] = block->next;
        std::free(block);
      }
      counts[c] = 0;
    }
    cached_bytes.value = 0;
  }
};

// On the heap: thread-local storage must be small to be accessed fast. Null once the thread is
// ending: storages dropped by later thread-local destructors bypass the cache.
constinit thread_local ThreadCache* current_cache = nullptr;
constinit thread_local bool thread_ended = false;
struct ThreadCacheOwner {
  ~ThreadCacheOwner() {
    thread_ended = true;
    delete std::exchange(current_cache, nullptr);
  }
};
[[gnu::noinline]] ThreadCache* make_thread_cache() {
  if (thread_ended) return nullptr;
  static thread_local ThreadCacheOwner owner;
  static_cast<void>(owner);
  return current_cache = new ThreadCache;
}
ThreadCache* thread_cache() { return current_cache ? current_cache : make_thread_cache(); }

int64_t Shared::small_live() const {
  int64_t sum = retired ? retired->live_bytes.get() : 0;
  for (const ThreadCache* cache : threads) sum += cache->live_bytes.get();
  return sum;
}

// Moves the least recently freed blocks into `victims` until at most `keep` bytes are cached.
void Shared::trim(int64_t keep, std::vector<std::pair<size_t, void*>>& victims) {
  while (large_cached > keep && !large.empty()) {
    const auto last = std::prev(large.end());
    auto& same_size = large_by_size[last->first];
    std::erase(same_size, last);
    large_cached -= static_cast<int64_t>(last->first);
    victims.push_back(*last);
    large.erase(last);
  }
}

void unmap_all(const std::vector<std::pair<size_t, void*>>& blocks) {
  for (const auto& [bytes, address] : blocks) munmap(address, bytes);
}

void* map_block(size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  if (bytes >= 2 * kHugePage) madvise(address, bytes, MADV_HUGEPAGE);
  return address;
}

[[noreturn]] void out_of_memory(size_t bytes) {
  fail(ErrorKind::kOutOfMemory, "not enough memory: tried to allocate ", bytes, " bytes (",
       static_cast<double>(bytes) / (1 << 30), " GiB) on the CPU");
}

void* allocate_large(size_t bytes) {
  Shared& s = shared();
  {
    std::lock_guard lock(s.mutex);
    ++s.large_allocations;
    s.large_live += static_cast<int64_t>(bytes);
    s.peak = std::max(s.peak, s.large_live + s.small_live());
    auto found = s.large_by_size.find(bytes);
    if (found != s.large_by_size.end() && !found->second.empty()) {
      const auto block = found->second.back();
      found->second.pop_back();
      void* address = block->second;
      s.large.erase(block);
      s.large_cached -= static_cast<int64_t>(bytes);
      return address;
    }
    ++s.large_misses;
    s.note_needed(bytes);
  }
  void* address = map_block(bytes);
  if (!address) {
    empty_cpu_cache();
    address = map_block(bytes);
  }
  if (!address) {
    std::lock_guard lock(s.mutex);
    s.large_live -= static_cast<int64_t>(bytes);
  }
  return address;
}

void free_large(void* address, size_t bytes) {
  Shared& s = shared();
  std::vector<std::pair<size_t, void*>> victims;
  {
    std::lock_guard lock(s.mutex);
    s.large_live -= static_cast<int64_t>(bytes);
    s.large.emplace_front(bytes, address);
    s.large_by_size[bytes].push_back(s.large.begin());
    s.large_cached += static_cast<int64_t>(bytes);
    s.trim(s.limit(), victims);
    s.note_given_back(victims);
  }
  unmap_all(victims);
}

// Headers of memory of other owners: blocks of the smallest class. They count as cached while they
// wait for the next, but neither as live nor as allocations.
void* allocate_header() {
  ThreadCache* cache = thread_cache();
  if (cache && cache->lists[0]) {
    FreeBlock* head = cache->lists[0];
    cache->lists[0] = head->next;
    --cache->counts[0];
    cache->cached_bytes.add(-static_cast<int64_t>(small_class_bytes(0)));
    return head;
  }
  void* block = std::aligned_alloc(64, small_class_bytes(0));
  if (!block) out_of_memory(kHeader);
  return block;
}

void free_header(void* block) {
  ThreadCache* cache = thread_cache();
  if (!cache || cache->counts[0] >= kThreadCacheBlocks) return std::free(block);
  auto* node = static_cast<FreeBlock*>(block);
  node->next = cache->lists[0];
  cache->lists[0] = node;
  ++cache->counts[0];
  cache->cached_bytes.add(static_cast<int64_t>(small_class_bytes(0)));
}

}  // namespace

Storage allocate_cpu(size_t bytes) {
  if (bytes > (size_t{1} << 62)) out_of_memory(bytes);
  const size_t total = bytes + kHeader;
  void* block = nullptr;
  uint16_t size_class = kLargeClass;
  size_t block_bytes = 0;
  if (total < kLargeBlock) {
    const int index = small_class_of(total);
    size_class = static_cast<uint16_t>(index);
    block_bytes = small_class_bytes(index);
    ThreadCache* cache = thread_cache();
    if (cache) {
      cache->live_bytes.add(static_cast<int64_t>(block_bytes));
      cache->allocations.add(1);
    }
    if (cache && cache->lists[index]) {
      FreeBlock* head = cache->lists[index];
      cache->lists[index] = head->next;
      --cache->counts[index];
      cache->cached_bytes.add(-static_cast<int64_t>(block_bytes));
      block = head;
    } else {
      if (cache) cache->misses.add(1);
      block = std::aligned_alloc(64, (block_bytes + 63) / 64 * 64);  // whole multiples only
    }
  } else {
    block_bytes = large_block_bytes(total);
    block = allocate_large(block_bytes);
  }
  if (!block) out_of_memory(bytes);
  auto* storage = new (block) StorageImpl;
  storage->data = static_cast<char*>(block) + kHeader;
  storage->bytes = bytes;
  storage->size_class = size_class;
  storage->block_bytes = block_bytes;
  if (profile::wants(profile::kMemory)) [[unlikely]]
    profile::note_memory(storage->data, static_cast<int64_t>(bytes));
  return Storage(storage);
}

void StorageImpl::destroy() {
  if (watched) autograd::forget_changes(*this);
  if (enlarged) enlarged->drop();
  if (release) {
    release(context);
    free_header(this);
    return;
  }
  if (profile::wants(profile::kMemory)) [[unlikely]]
    profile::note_memory(data, -static_cast<int64_t>(bytes));
  void* block = this;
  if (size_class == kLargeClass) {
    free_large(block, block_bytes);
    return;
  }
  const int index = size_class;
  ThreadCache* cache = thread_cache();
  if (cache) cache->live_bytes.add(-static_cast<int64_t>(block_bytes));
  if (!cache || cache->counts[index] >= kThreadCacheBlocks ||
      (cache->counts[index] > 0 && cache->counts[index] * block_bytes >= kThreadCacheBytes)) {
    std::free(block);
    return;
  }
  auto* node = static_cast<FreeBlock*>(block);
  node->next = cache->lists[index];
  cache->lists[index] = node;
  ++cache->counts[index];
  cache->cached_bytes.add(static_cast<int64_t>(block_bytes));
}

Storage Storage::adopt(void* data, size_t bytes, StorageImpl::Release release, void* context) {
  auto* impl = new (allocate_header()) StorageImpl;
  impl->data = data;
  impl->bytes = bytes;
  impl->resizable = false;
  impl->release = release;
  impl->context = context;
  return Storage(impl);
}

namespace {

// Bytes that a storage really has, which may have been larger before.
size_t capacity_of(const StorageImpl& storage) {
  if (storage.enlarged) return capacity_of(*storage.enlarged);
  return storage.release ? storage.bytes : storage.block_bytes - kHeader;
}

}  // namespace

void Storage::resize(size_t bytes) {
  if (bytes <= impl_->bytes) {
    impl_->bytes = bytes;
    return;
  }
  FB_CHECK(impl_->resizable, "cannot resize memory that belongs to another owner");
  // Never shrinks: tensors may still reach as far as the storage once did.
  const size_t room = std::max(bytes, capacity_of(*impl_));
  const Device device = impl_->device;
  StorageImpl* fresh = (device.type == DeviceType::kCpu ? allocate_cpu(room)
                                                        : memory_of(device).allocate(room, device))
                           .leak();
  copy_bytes(device, fresh->data, impl_->data, impl_->bytes);
  if (impl_->enlarged) impl_->enlarged->drop();
  impl_->enlarged = fresh;
  impl_->data = fresh->data;
  impl_->bytes = bytes;
}

uint64_t unseen_writers() {
  return aliases.load(std::memory_order_relaxed) > 0 ? 0
                                                     : handed_out.load(std::memory_order_relaxed);
}

void note_address_taken() { handed_out.fetch_add(1, std::memory_order_relaxed); }

Storage Storage::alias(const Storage& original) {
  original->retain();
  aliases.fetch_add(1, std::memory_order_relaxed);
  note_address_taken();
  Storage copy = adopt(original->data, original->bytes, release_alias, original.get());
  copy->device = original->device;
  copy->promised = original->promised;
  return copy;
}

StorageImpl* original_of(const StorageImpl& storage) {
  return storage.release == release_alias ? static_cast<StorageImpl*>(storage.context) : nullptr;
}

void empty_cpu_cache() {
  if (ThreadCache* cache = thread_cache()) cache->flush();
  Shared& s = shared();
  std::vector<std::pair<size_t, void*>> victims;
  {
    std::lock_guard lock(s.mutex);
    s.trim(0, victims);
    s.forget_given_back();
  }
  unmap_all(victims);
}

CpuMemoryStats cpu_memory_stats() {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  CpuMemoryStats stats;
  stats.allocated_bytes = s.large_live + s.small_live();
  stats.cached_bytes = s.large_cached;
  stats.allocations = s.large_allocations + (s.retired ? s.retired->allocations.get() : 0);
  stats.system_allocations = s.large_misses + (s.retired ? s.retired->misses.get() : 0);
  for (const ThreadCache* cache : s.threads) {
    stats.cached_bytes += cache->cached_bytes.get();
    stats.allocations += cache->allocations.get();
    stats.system_allocations += cache->misses.get();
  }
  s.peak = std::max(s.peak, stats.allocated_bytes);
  stats.peak_allocated_bytes = s.peak;
  stats.cache_limit_bytes = s.limit();
  return stats;
}

void reset_peak_cpu_memory_stats() {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.peak = s.large_live + s.small_live();
}

void set_cpu_cache_floor(int64_t bytes) {
  Shared& s = shared();
  std::vector<std::pair<size_t, void*>> victims;
  {
    std::lock_guard lock(s.mutex);
    s.floor = bytes;
    s.trim(s.limit(), victims);
  }
  unmap_all(victims);
}

}  // namespace fb
