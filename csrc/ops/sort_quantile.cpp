// Quantiles, as a composition: sort, pick by rank, interpolate.
#include "autograd/batch.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/rounding.h"
#include "gen/ops/sort.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

void check_orders(const Tensor& input, const Tensor& q) {
  FB_CHECK(input.numel() > 0, "expected a non-empty input");
  FB_CHECK(q.dim() <= 1, "expected q to be a number or a 1-D tensor, got shape ", q.sizes());
  FB_CHECK(input.dtype() == DType::kFloat32 || input.dtype() == DType::kFloat64,
           "expected a float32 or float64 input, got ", input.dtype());
  FB_CHECK(q.dtype() == input.dtype(), "expected q of the input's dtype ", input.dtype(), ", got ",
           q.dtype());
  const Tensor orders = contiguous(autograd::bottom_of(q));  // of all samples
  if (kernel::of(orders).all_within(q.dtype(), orders.data(), orders.numel(), {0, 1})) return;
  for (int64_t i = 0; i < orders.numel(); ++i) {
    const auto value = host_number(as_view(orders, {}, {}, orders.offset() + i)).to<double>();
    FB_CHECK(value >= 0 && value <= 1, "expected q in [0, 1], got ", value);
  }
}

// Where in its sorted row each quantile lies: one row of ranks for each row of x. NaNs are at the
// end; a row with a NaN gives NaN, unless NaNs are ignored and it has numbers.
Tensor ranks_of(const Tensor& x, const Tensor& q, bool ignore_nan) {
  const Tensor nans = ops::isnan(x);
  const auto last = static_cast<double>(x.size(-1) - 1);
  if (!ignore_nan)
    return ops::masked_fill(ops::mul(q, last), ops::any(nans, IntSpan{-1}, true), last);
  const Tensor rank_of_last = ops::sub(last, ops::sum(nans, IntSpan{-1}, true));
  return ops::mul(q, ops::to_dtype(ops::clamp_min(rank_of_last, 0), q.dtype()));
}

Tensor at_rank(const Tensor& sorted, const Tensor& ranks) {
  return ops::gather(sorted, -1, ops::to_int64(ranks));
}

Tensor interpolated(const Tensor& sorted, const Tensor& ranks, const std::string& how) {
  if (how == "lower") return at_rank(sorted, ops::floor(ranks));
  if (how == "higher") return at_rank(sorted, ops::ceil(ranks));
  if (how == "nearest") return at_rank(sorted, ops::round(ranks));
  FB_CHECK(how == "linear" || how == "midpoint",
           "expected interpolation to be linear, lower, higher, midpoint or nearest, got '", how,
           "'");
  const Tensor low = at_rank(sorted, ops::floor(ranks));
  const Tensor high = at_rank(sorted, ops::ceil(ranks));
  return how == "midpoint" ? ops::lerp(low, high, 0.5)
                           : ops::lerp(low, high, ops::sub(ranks, ops::floor(ranks)));
}

Tensor quantiles(const Tensor& input, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 const std::string& interpolation, bool ignore_nan) {
  check_orders(input, q);
  const int64_t d = dim ? wrap_dim(*dim, input.dim()) : 0;
  // The dimension moves to the end, where the quantiles replace it; then these move to the front.
  const bool whole = !dim || input.dim() == 0;
  const Tensor x = whole ? ops::reshape(input, {-1}) : ops::movedim(input, {d}, {-1});
  const Tensor ranks = ranks_of(x, ops::reshape(q, {-1}), ignore_nan);
  const Tensor sorted = std::get<0>(ops::sort(x, -1, false));
  Tensor out = ops::movedim(interpolated(sorted, ranks, interpolation), {-1}, {0});
  if (keepdim) {
    Dims sizes(input.dim(), 1);
    sizes.insert(0, q.numel());
    out = whole ? ops::reshape(out, sizes) : ops::unsqueeze(out, 1 + d);
  }
  return q.dim() == 0 ? ops::select(out, 0, 0) : out;
}

Tensor order_of(double q, const Tensor& like) {
  return ops::scalar_tensor(q, like.dtype(), like.device());
}

}  // namespace

Tensor composed::quantile(const Tensor& input, double q, std::optional<int64_t> dim, bool keepdim,
                          const std::string& interpolation) {
  return quantiles(input, order_of(q, input), dim, keepdim, interpolation, false);
}
Tensor composed::quantile(const Tensor& input, const Tensor& q, std::optional<int64_t> dim,
                          bool keepdim, const std::string& interpolation) {
  return quantiles(input, q, dim, keepdim, interpolation, false);
}
Tensor composed::nanquantile(const Tensor& input, double q, std::optional<int64_t> dim,
                             bool keepdim, const std::string& interpolation) {
  return quantiles(input, order_of(q, input), dim, keepdim, interpolation, true);
}
Tensor composed::nanquantile(const Tensor& input, const Tensor& q, std::optional<int64_t> dim,
                             bool keepdim, const std::string& interpolation) {
  return quantiles(input, q, dim, keepdim, interpolation, true);
}

}  // namespace fb::ops
