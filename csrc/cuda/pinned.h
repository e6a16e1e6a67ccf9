// Page-locked memory of the host, which devices read and write directly.
#pragma once

#include "core/storage.h"
#include "cuda/driver.h"

namespace fb::cuda {

// A new storage in the host's memory. Blocks that were freed are given out again when the copies
// that used them are done.
Storage allocate_pinned(size_t bytes);
bool is_pinned(const void* address);
// A copy on this stream uses the memory.
void hold_pinned(const Storage& storage, int device, Stream stream);
// Returns kept blocks to the system.
void empty_pinned_cache();

}  // namespace fb::cuda
