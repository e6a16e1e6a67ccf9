// The names of devices, also of those that Flambeau knows by name alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/device.h"

namespace fb {

// Programs name and compare devices of every kind, but tensors on them are refused. The types after
// those of `DeviceType` are names and nothing else.
std::optional<DeviceType> find_device_type(std::string_view name);

std::string text_of(Device device);

// "cpu, cuda, ..."
std::string known_device_types();

}  // namespace fb
