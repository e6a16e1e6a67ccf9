// Who may keep or change the memory of a gradient.
#pragma once

#include "core/storage.h"

namespace fb::autograd {

// Whether the memory is an allocator's and no other program sees it: a device's allocator releases
// what it gives, as owners of other memory do, but only its own can be resized.
inline bool is_own_memory(const StorageImpl& storage) {
  return !storage.release || storage.resizable;
}

}  // namespace fb::autograd
