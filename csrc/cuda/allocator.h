// The memory of GPUs: blocks that tensors have given back are kept and given out again.
//
// Note [Memory in the order of a stream]: a block belongs to the stream that it was allocated for.
// Whoever gets it next on that stream comes after all work that used it, so nobody waits. Work of
// other streams must be told of (use_on_stream): the block is kept until it is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/storage.h"
#include "cuda/driver.h"

namespace fb::cuda {

// A new, uninitialised storage for the current stream of the device. Out of memory returns what is
// kept to the device, tries again and then raises OutOfMemoryError.
Storage allocate(size_t bytes, Device device);

// Work of this stream uses the storage as well. Nothing is done for memory of another owner.
void use_on_stream(const StorageImpl& storage, Stream stream);

// Returns kept memory to the device.
void empty_cache(int device);

// The least memory that kept blocks are cut to, and below which a block comes from the small pool.
inline constexpr size_t kSmallest = 512, kSmall = size_t{1} << 20;

// A quantity as PyTorch reports it.
struct Statistic {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void add(int64_t amount) {
    current += amount;
    if (current > peak) peak = current;
    (amount > 0 ? allocated : freed) += amount > 0 ? amount : -amount;
  }
};

// Of the large and of the small pool.
struct PoolStatistics {
  Statistic allocations, segments, active, inactive_split;
  Statistic allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
};

struct MemoryStatistics {
  PoolStatistics small, large;
  Statistic allocated_bytes, reserved_bytes;  // of both, whose peaks are no sum of the pools'
  int64_t retries = 0, out_of_memory = 0;
  int64_t device_allocations = 0, device_frees = 0;
};
MemoryStatistics memory_statistics(int device);
void reset_peak_statistics(int device);
void reset_accumulated_statistics(int device);

struct MemoryInfo {
  size_t free = 0, total = 0;
};
MemoryInfo memory_info(int device);

// The part of the device's memory that may be reserved.
void set_memory_fraction(int device, double fraction);
double memory_fraction(int device);

// What is reserved, for memory_snapshot, in the order of addresses of each segment.
struct BlockInfo {
  Address segment;  // where the addresses begin that it is cut from
  Address address;
  size_t bytes, requested;
  bool used, waits, mapped, small;  // waits: freed, but other streams are not done with it
  Stream stream;
  const void* origin;
};
std::vector<BlockInfo> memory_blocks(int device);

// The text that an error for lack of memory ends with; empty or null: nothing more is known. Called
// without locks.
inline std::string (*explain_out_of_memory)(int device) = nullptr;

// Note [History of memory]: where a block was asked for costs a look at the program's stack, so it
// is noted only while somebody wants it. An origin is what `find_origin` returns, kept for good.
inline const void* (*find_origin)() = nullptr;
struct HistoryEntry {
  enum class Action : uint8_t { kAllocated, kFreed, kMapped, kUnmapped, kOutOfMemory };
  Action action;
  Address address;
  size_t bytes;
  Stream stream;
  const void* origin;
  int64_t microseconds;  // since the epoch
};
// Keeps the origins of blocks, and the last `entries` changes of each device; -1: nothing at all.
void record_history(int64_t entries);
std::vector<HistoryEntry> history(int device);

// The device that an address belongs to, whoever allocated it; -1 if it is none's.
int device_owning(const void* address);
// The device whose allocator gave out this address; -1 if none did.
int device_of(const void* address);

}  // namespace fb::cuda
