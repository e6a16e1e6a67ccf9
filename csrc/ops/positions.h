// Positions given by the user, which have to exist.
#pragma once

#include <optional>

#include "core/device.h"
#include "ops/host.h"

namespace fb::ops {

// Whether kernels of the device find bad positions themselves, and the error is raised later: an
// operator that looked first would wait for all that was computed before.
inline bool kernels_check_positions(Device device) { return device.type == DeviceType::kCuda; }

// The first of contiguous int64 positions outside [0, size), if any and if that is for the operator
// to find.
inline std::optional<int64_t> first_bad_position(const Tensor& positions, int64_t size) {
  if (kernels_check_positions(positions.device())) return std::nullopt;
  return first_outside(positions, 0, size - 1);
}

}  // namespace fb::ops
