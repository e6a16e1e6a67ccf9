// The memory of GPUs: see Note [Memory in the order of a stream].
#include "cuda/allocator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>

#include "core/allocator.h"
#include "core/error.h"
#include "cuda/arena.h"
#include "cuda/context.h"

namespace fb::cuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kSmallPage = 2 * kMiB, kLargePage = 16 * kMiB;
// Without virtual memory: what small blocks are cut from, and what large ones are rounded to.
constexpr size_t kSmallSegment = 2 * kMiB, kLargeSegment = 20 * kMiB;

// How much may be reserved beyond what tensors took at their peak before pages in the wrong place
// are returned, for which the device is waited for; and how many blocks are allocated in between at
// least.
constexpr int64_t kWasted = 8;  // an eighth
constexpr int64_t kTrimInterval = 1000;

// A block that work of other streams still uses.
struct Waiting {
  Block* block;
  std::vector<Event> events;
};

struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::list<Waiting> waiting;
  std::deque<HistoryEntry> history;
  MemoryStatistics statistics;
  double fraction = 1.0;
  int64_t trimmed_after = -kTrimInterval;  // how many blocks had been allocated
};

// Never destroyed: tensors may outlive what the process tears down at its end.
Pool* const pools = new Pool[kMaxDevices];

std::atomic<int64_t> history_length{-1};

void note_history(Pool& pool, HistoryEntry::Action action, Address address, size_t bytes,
                  Stream stream, const void* origin) {
  const int64_t most = history_length.load(std::memory_order_relaxed);
  if (most <= 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  pool.history.push_back({action, address, bytes, stream, origin,
                          std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
  while (pool.history.size() > static_cast<size_t>(most)) pool.history.pop_front();
}

PoolStatistics& of_pool(Pool& pool, const Arena& arena) {
  return arena.small() ? pool.statistics.small : pool.statistics.large;
}

size_t reserved_in(const Pool& pool) {
  return static_cast<size_t>(pool.statistics.reserved_bytes.current);
}

// What is reserved and lies between or behind blocks that are used.
void note_inactive(Pool& pool, Arena& arena) {
  PoolStatistics& s = of_pool(pool, arena);
  const size_t before = std::exchange(arena.counted_free, arena.free_blocks());
  if (const auto more = static_cast<int64_t>(arena.counted_free) - static_cast<int64_t>(before))
    s.inactive_split.add(more);
  const int64_t inactive = s.reserved_bytes.current - s.active_bytes.current;
  if (const int64_t more = inactive - s.inactive_split_bytes.current)
    s.inactive_split_bytes.add(more);
}

void note_reserved(Pool& pool, Arena& arena, int64_t bytes) {
  of_pool(pool, arena).reserved_bytes.add(bytes);
  pool.statistics.reserved_bytes.add(bytes);
  (bytes > 0 ? pool.statistics.device_allocations : pool.statistics.device_frees) +=
      std::exchange(arena.device_calls, 0);
  using Action = HistoryEntry::Action;
  note_history(pool, bytes > 0 ? Action::kMapped : Action::kUnmapped, arena.base(),
               static_cast<size_t>(std::abs(bytes)), arena.stream(), nullptr);
}

// A tensor got the block, or gave it back.
void note_block(Pool& pool, const Block& block, int sign) {
  PoolStatistics& s = of_pool(pool, *block.arena);
  const auto bytes = sign * static_cast<int64_t>(block.bytes);
  s.allocations.add(sign);
  s.allocated_bytes.add(bytes);
  s.requested_bytes.add(sign * static_cast<int64_t>(block.requested));
  pool.statistics.allocated_bytes.add(bytes);
  using Action = HistoryEntry::Action;
  note_history(pool, sign > 0 ? Action::kAllocated : Action::kFreed, block.address, block.bytes,
               block.arena->stream(), block.origin);
}

// Nobody else gets the block from now on, or others may.
void note_active(Pool& pool, const Block& block, int sign) {
  PoolStatistics& s = of_pool(pool, *block.arena);
  s.active.add(sign);
  s.active_bytes.add(sign * static_cast<int64_t>(block.bytes));
}

void make_free(Pool& pool, Block* block) {
  Arena& arena = *block->arena;
  block->other_users.clear();
  block->origin = nullptr;
  note_active(pool, *block, -1);
  arena.give_back(block);
  note_inactive(pool, arena);
}

// Frees the blocks whose last work is done; with `all`, waits for it.
void look_at_waiting(Pool& pool, bool all) {
  for (auto at = pool.waiting.begin(); at != pool.waiting.end();) {
    bool done = true;
    for (const Event event : at->events) {
      const Status status = all ? driver().event_synchronize(event) : driver().event_query(event);
      if (status == kNotReady) {
        done = false;
        break;
      }
      check(status, names::event_query);
    }
    if (!done) {
      ++at;
      continue;
    }
    for (const Event event : at->events) driver().event_destroy(event);
    make_free(pool, at->block);
    at = pool.waiting.erase(at);
  }
}

// Returns what nobody uses to the device, which must have done all its work before.
void release_kept(Pool& pool) {
  FB_CUDA(synchronize_context);
  look_at_waiting(pool, true);
  for (auto at = pool.arenas.begin(); at != pool.arenas.end();) {
    Arena& arena = **at;
    if (arena.grows()) {
      if (const size_t released = arena.trim()) {
        note_reserved(pool, arena, -static_cast<int64_t>(released));
        note_inactive(pool, arena);
      }
    } else if (arena.is_empty()) {
      arena.device_calls = 1;
      of_pool(pool, arena).segments.add(-1);
      note_reserved(pool, arena, -static_cast<int64_t>(arena.mapped()));
      of_pool(pool, arena).inactive_split.add(-static_cast<int64_t>(arena.counted_free));
      of_pool(pool, arena).inactive_split_bytes.add(-static_cast<int64_t>(arena.mapped()));
      at = pool.arenas.erase(at);
      continue;
    }
    ++at;
  }
}

// Whether pages are to be returned before `bytes` more are reserved: see kWasted.
bool wastes(Pool& pool, int device, size_t bytes) {
  const MemoryStatistics& all = pool.statistics;
  const auto more = static_cast<int64_t>(bytes);
  const int64_t needed = std::max(all.allocated_bytes.peak, all.allocated_bytes.current + more);
  if (all.reserved_bytes.current + more <= needed + needed / kWasted) return false;
  const int64_t blocks = all.small.allocations.allocated + all.large.allocations.allocated;
  if (!properties(device).virtual_memory || blocks < pool.trimmed_after + kTrimInterval)
    return false;
  pool.trimmed_after = blocks;
  return true;
}

size_t limit_of(const Pool& pool, int device) {
  if (pool.fraction >= 1.0) return SIZE_MAX;
  return static_cast<size_t>(pool.fraction * static_cast<double>(properties(device).memory));
}

// A block from memory that the device has not given us yet; null if it has none.
Block* take_fresh(Pool& pool, int device, Stream stream, bool small, size_t bytes) {
  const size_t limit = limit_of(pool, device), reserved = reserved_in(pool);
  const size_t allowed = limit > reserved ? limit - reserved : 0;
  if (properties(device).virtual_memory) {
    Arena* arena = nullptr;
    for (const auto& each : pool.arenas)
      if (each->stream() == stream && each->small() == small) arena = each.get();
    if (!arena) {
      const size_t page = small ? kSmallPage : kLargePage;
      // Room for blocks that cannot fill the gaps between others, too.
      const size_t capacity = properties(device).memory + properties(device).memory / 4;
      pool.arenas.push_back(std::make_unique<Arena>(device, stream, small, capacity, page));
      arena = pool.arenas.back().get();
      of_pool(pool, *arena).segments.add(1);
    }
    const size_t before = arena->mapped();
    if (!arena->grow(bytes, allowed)) return nullptr;
    note_reserved(pool, *arena, static_cast<int64_t>(arena->mapped() - before));
    return arena->take(bytes);
  }
  const size_t segment =
      small ? kSmallSegment
            : std::max(kLargeSegment, (bytes + kSmallPage - 1) / kSmallPage * kSmallPage);
  if (segment > allowed) return nullptr;
  Address address = 0;
  const Status status = driver().allocate(&address, segment);
  if (status == kOutOfMemory) return nullptr;
  check(status, names::allocate);
  pool.arenas.push_back(std::make_unique<Arena>(device, stream, small, address, segment));
  Arena& arena = *pool.arenas.back();
  arena.device_calls = 1;
  of_pool(pool, arena).segments.add(1);
  note_reserved(pool, arena, static_cast<int64_t>(segment));
  return arena.take(bytes);
}

Block* take_kept(Pool& pool, Stream stream, bool small, size_t bytes) {
  for (const auto& arena : pool.arenas)
    if (arena->stream() == stream && arena->small() == small)
      if (Block* block = arena->take(bytes)) return block;
  return nullptr;
}

std::string in_units(size_t bytes) {
  if (bytes < 1024) return message_of(bytes, " bytes");
  const char* const units[] = {"KiB", "MiB", "GiB"};
  auto amount = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; amount >= 1024 && unit < 2; ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", amount, units[unit]);
  return text;
}

// The message of the error, in PyTorch's words, which programs look for.
std::string out_of_memory(const Pool& pool, int device, size_t bytes) {
  size_t free = 0, total = 0;
  driver().memory_info(&free, &total);
  const auto allocated = static_cast<size_t>(pool.statistics.allocated_bytes.current);
  const size_t kept = reserved_in(pool) - allocated;
  const std::string limited =
      pool.fraction < 1.0
          ? message_of(" This process may reserve ", in_units(limit_of(pool, device)), '.')
          : std::string();
  return message_of("CUDA out of memory. Tried to allocate ", in_units(bytes), ". GPU ", device,
                    " has a total capacity of ", in_units(total), " of which ", in_units(free),
                    " is free. Of the reserved memory ", in_units(allocated),
                    " is allocated by tensors, and ", in_units(kept),
                    " is reserved but unallocated.", limited);
}

void release_block(void* context) {
  auto* block = static_cast<Block*>(context);
  const int device = block->arena->device();
  Pool& pool = pools[device];
  const std::lock_guard lock(pool.mutex);
  note_block(pool, *block, -1);
  if (block->other_users.empty() || is_forked()) return make_free(pool, block);
  Waiting waiting{block, {}};
  // Nothing may be raised here. The driver refuses when the process ends, or after an error that
  // ends all work: then nobody uses the block any more.
  try {
    use(device);
    for (const Stream stream : block->other_users) {
      constexpr unsigned kWithoutTiming = 2;
      Event event = nullptr;
      FB_CUDA(event_create, &event, kWithoutTiming);
      waiting.events.push_back(event);
      FB_CUDA(event_record, event, stream);
    }
  } catch (const std::exception&) {
  }
  pool.waiting.push_back(std::move(waiting));
}

const Block* block_of(const StorageImpl& storage) {
  return storage.release == release_block ? static_cast<const Block*>(storage.context) : nullptr;
}

}  // namespace

Storage allocate(size_t bytes, Device device) {
  const int index = device.index;
  use(index);
  Pool& pool = pools[index];
  const size_t rounded = std::max(kSmallest, (bytes + kSmallest - 1) / kSmallest * kSmallest);
  FB_CHECK_AS(ErrorKind::kOutOfMemory, rounded >= bytes, "CUDA out of memory: ", bytes,
              " bytes were asked for");
  const Stream stream = current_stream(index);
  const bool small = rounded <= kSmall;
  const void* const origin = find_origin && history_length >= 0 ? find_origin() : nullptr;
  Block* block = nullptr;
  std::string failure;
  {
    std::unique_lock lock(pool.mutex);
    if (!pool.waiting.empty()) look_at_waiting(pool, false);
    block = take_kept(pool, stream, small, rounded);
    if (!block && wastes(pool, index, rounded)) {
      lock.unlock();
      FB_CUDA(synchronize_context);  // little is left to wait for under the lock
      lock.lock();
      release_kept(pool);
      block = take_kept(pool, stream, small, rounded);
    }
    if (!block) block = take_fresh(pool, index, stream, small, rounded);
    if (!block) {
      ++pool.statistics.retries;
      release_kept(pool);
      block = take_kept(pool, stream, small, rounded);
      if (!block) block = take_fresh(pool, index, stream, small, rounded);
    }
    if (block) {
      block->requested = bytes;
      block->origin = origin;
      note_block(pool, *block, 1);
      note_active(pool, *block, 1);
      note_inactive(pool, *block->arena);
    } else {
      ++pool.statistics.out_of_memory;
      note_history(pool, HistoryEntry::Action::kOutOfMemory, 0, bytes, stream, origin);
      failure = out_of_memory(pool, index, bytes);
    }
  }
  if (!block) [[unlikely]] {
    // Whoever explains looks at the allocator, so that it must not be locked.
    if (explain_out_of_memory) failure += explain_out_of_memory(index);
    fail(ErrorKind::kOutOfMemory, failure);
  }
  Storage storage =
      Storage::adopt(reinterpret_cast<void*>(block->address), bytes, release_block, block);
  storage->device = device;
  storage->resizable = true;
  return storage;
}

void use_on_stream(const StorageImpl& storage, Stream stream) {
  const StorageImpl* own = &storage;
  while (const StorageImpl* original = original_of(*own)) own = original;
  const auto* block = block_of(*own);
  if (!block) return;
  Pool& pool = pools[block->arena->device()];
  const std::lock_guard lock(pool.mutex);
  auto& users = const_cast<Block*>(block)->other_users;
  if (stream == block->arena->stream()) return;
  if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
}

void empty_cache(int device) {
  if (is_forked()) return;
  Pool& pool = pools[device];
  {
    const std::lock_guard lock(pool.mutex);
    if (pool.arenas.empty()) return;
  }
  use(device);
  const std::lock_guard lock(pool.mutex);
  release_kept(pool);
}

MemoryStatistics memory_statistics(int device) {
  Pool& pool = pools[device];
  const std::lock_guard lock(pool.mutex);
  return pool.statistics;
}

namespace {

template <class Act>
void for_each_statistic(Pool& pool, Act act) {
  const std::lock_guard lock(pool.mutex);
  MemoryStatistics& all = pool.statistics;
  for (PoolStatistics* p : {&all.small, &all.large})
    for (Statistic* s :
         {&p->allocations, &p->segments, &p->active, &p->inactive_split, &p->allocated_bytes,
          &p->reserved_bytes, &p->active_bytes, &p->inactive_split_bytes, &p->requested_bytes})
      act(*s);
  act(all.allocated_bytes);
  act(all.reserved_bytes);
}

}  // namespace

void reset_peak_statistics(int device) {
  for_each_statistic(pools[device], [](Statistic& s) { s.peak = s.current; });
}

void reset_accumulated_statistics(int device) {
  for_each_statistic(pools[device], [](Statistic& s) { s.allocated = s.freed = 0; });
  const std::lock_guard lock(pools[device].mutex);
  pools[device].trimmed_after = -kTrimInterval;
  MemoryStatistics& all = pools[device].statistics;
  all.retries = all.out_of_memory = all.device_allocations = all.device_frees = 0;
}

MemoryInfo memory_info(int device) {
  use(device);
  MemoryInfo info;
  FB_CUDA(memory_info, &info.free, &info.total);
  return info;
}

void set_memory_fraction(int device, double fraction) {
  const std::lock_guard lock(pools[device].mutex);
  pools[device].fraction = fraction;
}

double memory_fraction(int device) {
  const std::lock_guard lock(pools[device].mutex);
  return pools[device].fraction;
}

std::vector<BlockInfo> memory_blocks(int device) {
  Pool& pool = pools[device];
  const std::lock_guard lock(pool.mutex);
  std::vector<BlockInfo> result;
  for (const auto& arena : pool.arenas) {
    for (const auto& entry : arena->blocks()) {
      const Block& block = entry.second;  // a name that Clang 16 lets lambdas capture
      const bool waits =
          std::any_of(pool.waiting.begin(), pool.waiting.end(),
                      [&block](const Waiting& each) { return each.block == &block; });
      const bool used = block.state == Block::State::kUsed;
      result.push_back({arena->base(), block.address, block.bytes, used ? block.requested : 0, used,
                        waits, block.state != Block::State::kHole, arena->small(), arena->stream(),
                        block.origin});
    }
  }
  return result;
}

void record_history(int64_t entries) {
  history_length = entries;
  if (entries > 0) return;
  for (int device = 0; device < kMaxDevices; ++device) {
    const std::lock_guard lock(pools[device].mutex);
    pools[device].history.clear();
  }
}

std::vector<HistoryEntry> history(int device) {
  const std::lock_guard lock(pools[device].mutex);
  return {pools[device].history.begin(), pools[device].history.end()};
}

int device_owning(const void* pointer) {
  constexpr int kDeviceOrdinal = 9;
  int device = -1;
  use(thread_state.device);
  const Status status =
      driver().pointer_attribute(&device, kDeviceOrdinal, reinterpret_cast<Address>(pointer));
  return status == kSuccess ? device : -1;
}

int device_of(const void* pointer) {
  const auto address = reinterpret_cast<Address>(pointer);
  for (int device = 0; device < device_count(); ++device) {
    Pool& pool = pools[device];
    const std::lock_guard lock(pool.mutex);
    for (const auto& arena : pool.arenas)
      if (arena->holds(address)) return device;
  }
  return -1;
}

}  // namespace fb::cuda
