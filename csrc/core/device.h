// Where a tensor lives, and the layout words of PyTorch's API.
#pragma once

#include <cstdint>

#include "core/text.h"

namespace fb {

// The last one exists only in builds for the tests: see csrc/shadow. It has the number of PyTorch's
// name for third-party devices, privateuseone.
enum class DeviceType : uint8_t { kCpu, kCuda, kMeta, kShadow = 8 };
inline constexpr int kDeviceTypes = 20;  // with those that are known by name alone

// No default constructor: every allocation names its device.
struct Device {
  DeviceType type;
  int8_t index;  // -1: the current one

  constexpr explicit Device(DeviceType type, int8_t index = -1) : type(type), index(index) {}
  friend bool operator==(Device, Device) = default;
};

// The memory that the host reads and writes itself.
inline constexpr Device kHost{DeviceType::kCpu};

// "cpu", "cuda", ...
const char* name_of(DeviceType type);
inline Text& operator<<(Text& out, Device device) {
  out << name_of(device.type);
  if (device.index >= 0) out << ':' << static_cast<int>(device.index);
  return out;
}

enum class Layout : uint8_t {
  kStrided,
  kSparseCoo,
  kSparseCsr,
  kSparseCsc,
  kSparseBsr,
  kSparseBsc
};
enum class MemoryFormat : uint8_t { kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };

}  // namespace fb
