// Special functions with an integer parameter.
#include "gen/ops/special.h"

#include <cmath>
#include <numbers>

#include "gen/ops/arith.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {

void check_polygamma(std::span<const Operand>, std::span<const Scalar> params, DType) {
  FB_CHECK(params[0].to<int64_t>() >= 0, "n must not be negative, got ", params[0]);
}

Tensor compute::polygamma(int64_t n, const Tensor& input) { return compute::polygamma(input, n); }

// log of pi^(p (p - 1) / 4) times the product of gamma(x - k / 2) over k < p.
Tensor compute::mvlgamma(const Tensor& input, int64_t p) {
  FB_CHECK(p >= 1, "p must be at least 1, got ", p);
  // One term for each k. The limit is no loss: a p x p matrix beyond it would not fit into memory.
  constexpr int64_t kMostRows = int64_t{1} << 20;
  FB_CHECK(p <= kMostRows, "p must be at most ", kMostRows, ", got ", p);
  const Tensor x = cast(input, to_floating(input.dtype()));
  Tensor sum = compute::lgamma(x);
  for (int64_t k = 1; k < p; ++k)
    sum = compute::add(sum, compute::lgamma(compute::sub(x, 0.5 * static_cast<double>(k))));
  const auto count = static_cast<double>(p);
  return compute::add(sum, 0.25 * count * (count - 1.0) * std::log(std::numbers::pi));
}

}  // namespace fb::ops
