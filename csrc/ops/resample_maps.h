// The weights of interpolation: see Note [Separable maps] in kernel/resample.h.
#pragma once

#include <optional>
#include <string>

#include "kernel/resample.h"

namespace fb::ops {

// How one dimension is interpolated: "nearest", "nearest-exact", "linear", "cubic", and kinds that
// average when they downscale, "smooth-linear", "smooth-cubic", "lanczos", "box" and "hamming".
struct AxisResampling {
  const std::string& kind;
  int64_t in, out;
  std::optional<double> factor;  // what the user asked for, where that is not out / in
  bool align_corners;
  bool in_double;  // positions are computed in the type of the elements, as PyTorch does
};

kernel::AxisMap resampling_map(const AxisResampling& axis);

}  // namespace fb::ops
