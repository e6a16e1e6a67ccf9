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
};

// By the type of device; null where there is none. The host's memory is core/allocator.h's.
inline const DeviceMemory* device_memory[kDeviceTypes] = {};

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
