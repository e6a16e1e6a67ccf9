// pin_memory=True of new tensors, which needs a device that copies from page-locked memory.
#pragma once

#include "bind/call.h"

namespace fb::bind {

inline void check_pinned(PyObject* pin_memory) {
  FB_CHECK(!pin_memory || pin_memory == Py_None || !read::boolean(pin_memory),
           "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
           "allocator is available on this system");
}

}  // namespace fb::bind
