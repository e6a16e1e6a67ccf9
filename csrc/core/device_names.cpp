// The names of devices.
#include "core/device_names.h"

#include <algorithm>
#include <iterator>

namespace fb {
namespace {

// By the value of their type: first those that `DeviceType` lists.
#if defined(FB_SHADOW)
#define FB_FOREIGN "shadow"
#else
#define FB_FOREIGN "privateuseone"
#endif
constexpr const char* kNames[kDeviceTypes] = {
    "cpu", "cuda", "meta", "mps",  "xpu",    "xla",   "mtia",   "hpu",    FB_FOREIGN, "hip",
    "ipu", "lazy", "maia", "fpga", "vulkan", "ideep", "mkldnn", "opengl", "opencl",   "ve"};

}  // namespace

const char* name_of(DeviceType type) { return kNames[static_cast<size_t>(type)]; }

std::optional<DeviceType> find_device_type(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return DeviceType(found - std::begin(kNames));
}

std::string text_of(Device device) {
  std::string text(name_of(device.type));
  if (device.index >= 0) text += ":" + std::to_string(device.index);
  return text;
}

std::string known_device_types() {
  return "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
         "vulkan, mps, meta, hpu, mtia, privateuseone";
}

}  // namespace fb
