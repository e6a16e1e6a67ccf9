// Rounding to decimals.
#include "gen/ops/rounding.h"

#include <cmath>

namespace fb::ops {

Tensor compute::round(const Tensor& input, int64_t decimals) {
  if (decimals == 0) return compute::round(input);
  FB_CHECK(is_floating(input.dtype()), "decimals must be 0 for tensors of type ", input.dtype(),
           ", got ", decimals);
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  return compute::round_decimals(input, decimals < 0 ? -power : power);
}

}  // namespace fb::ops
