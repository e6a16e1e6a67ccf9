// Memory of devices other than the host.
#pragma once

#include <cstring>

#include "core/storage.h"

namespace fb {

// What a backend provides besides its kernels (kernel/table.h).
struct DeviceMemory {
  // A new, uninitialised storage of `bytes`.
  Storage (*allocate)(size_t bytes, Device device);
  // See copy_bytes.
  void (*copy)(void* out, const void* in, size_t bytes);
  // The number of the device that is meant where none is given; null: there is but one.
  int8_t (*current)() = nullptr;
};

// By the type of device; null where there is none. The host's memory is core/allocator.h's.
inline const DeviceMemory* device_memory[kDeviceTypes] = {};

// Makes a device ready when somebody first asks for it, or raises an error that says what is
// missing; null where there is nothing to start.
inline void (*start_device[kDeviceTypes])(Device device) = {};

// Whether an address of the host's memory is page-locked; null where no device could use that.
inline bool (*is_page_locked)(const void* address) = nullptr;

// The memory of a device that tensors can live on; refuses any other.
const DeviceMemory& memory_of(Device device);

// Bytes from one address of a device, which may be the host, to another; they do not overlap.
inline void copy_bytes(Device device, void* out, const void* in, size_t bytes) {
  if (device.type == DeviceType::kCpu)
    std::memcpy(out, in, bytes);
  else
    memory_of(device).copy(out, in, bytes);
}

}  // namespace fb
