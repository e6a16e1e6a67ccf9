// The caching CPU allocator: freed blocks are kept by size class, so that a large result costs no
// page faults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/storage.h"

namespace fb {

// A new, uninitialised storage of `bytes`, 64-byte aligned. Out of memory empties the cache, tries
// again and then raises OutOfMemoryError.
Storage allocate_cpu(size_t bytes);

// The storage that Storage::alias was given; null for a storage that is not an alias.
StorageImpl* original_of(const StorageImpl& storage);

// Returns every cached block to the system.
void empty_cpu_cache();

struct CpuMemoryStats {
  int64_t allocated_bytes = 0;  // in live storages
  int64_t peak_allocated_bytes =
      0;                          // the most so far; small blocks are sampled at large allocations
  int64_t cached_bytes = 0;       // freed and kept
  int64_t cache_limit_bytes = 0;  // what may be kept now
  int64_t allocations = 0;
  int64_t system_allocations = 0;  // those that the cache could not serve
};
CpuMemoryStats cpu_memory_stats();
void reset_peak_cpu_memory_stats();

// The most that may be kept: `floor` bytes or a quarter of the peak, whichever is more, plus what
// was allocated again after it had been returned to the system.
void set_cpu_cache_floor(int64_t bytes);

}  // namespace fb
