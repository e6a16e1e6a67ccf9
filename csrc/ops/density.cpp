// Checks of the arguments of densities that make no tensor of booleans.
#include "gen/ops/density.h"

#include "autograd/batch.h"
#include "gen/ops/reduce.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

constexpr int64_t kLong = 2048;

}  // namespace

bool _all_within(const Tensor& input, double low, double high, bool above, bool below, bool whole) {
  autograd::check_no_branch(input);
  // A vectorised kernel finds minimum and maximum of a long tensor; both are NaN if any element is.
  if (input.numel() > kLong && is_floating(input.dtype()) && !whole) {
    const auto [least, most] = compute::aminmax(input, std::nullopt, false);
    return ops::_all_within(least, low, high, above, below) &&
           ops::_all_within(most, low, high, above, below);
  }
  const Tensor dense = contiguous(input);
  return kernel::of(dense).all_within(dense.dtype(), dense.data(), dense.numel(),
                                      {low, high, above, below, whole});
}

}  // namespace fb::ops
