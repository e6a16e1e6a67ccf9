// Checks of the arguments of densities, without a tensor of answers.
#include "gen/ops/density.h"

#include <cmath>

#include "autograd/batch.h"
#include "gen/ops/reduce.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

constexpr int64_t kLong = 2048;

struct Range {
  double low, high;
  bool above, below, whole;
};

// A bound is rounded to the element type, as in a comparison of a tensor with a number.
template <class T>
bool all_within(const T* data, int64_t n, const Range& range) {
  using Real =
      std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>;
  const auto low = static_cast<Real>(range.low);
  const auto high = static_cast<Real>(range.high);
  bool all = true;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = convert<Real>(data[i]);
    all &= (range.above ? x > low : x >= low) & (range.below ? x < high : x <= high);
  }
  if constexpr (!std::is_integral_v<T>)
    for (int64_t i = 0; i < n && all && range.whole; ++i) {
      const auto x = convert<Real>(data[i]);
      all = x == std::floor(x) && !std::isinf(x);
    }
  return all;
}

}  // namespace

bool _all_within(const Tensor& input, double low, double high, bool above, bool below, bool whole) {
  autograd::check_no_branch(input);
  // The ends of a long tensor, which are NaN if anything is, come from a vectorised kernel.
  if (input.numel() > kLong && is_floating(input.dtype()) && !whole) {
    const auto [least, most] = compute::aminmax(input, std::nullopt, false);
    return _all_within(least, low, high, above, below) &&
           _all_within(most, low, high, above, below);
  }
  const Tensor dense = contiguous(input);
  const Range range{low, high, above, below, whole};
  bool all = true;
  visit_real(dense.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    all = all_within(dense.data_as<T>(), dense.numel(), range);
  });
  return all;
}

}  // namespace fb::ops
