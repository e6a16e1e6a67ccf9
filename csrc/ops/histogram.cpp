// Histograms: how often values occur, and how many fall between edges.
#include "gen/ops/histogram.h"

#include <cmath>
#include <limits>

#include "core/checked.h"
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/histogram.h"
#include "gen/ops/reduce.h"
#include "gen/ops/scan.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

Tensor zeros_of(int64_t n, DType dtype, Device device) {
  Tensor t = make_tensor({n}, dtype, device);
  kernel::of(t).fill(t, int64_t{0});
  return t;
}

using Range = std::optional<std::vector<double>>;

Tensor counted(const Tensor& input, const Tensor& edges, const Tensor& weight, bool density,
               bool uniform) {
  FB_CHECK(input.dtype() == DType::kFloat32 || input.dtype() == DType::kFloat64,
           "expected a float32 or float64 input, got ", input.dtype());
  FB_CHECK(edges.dtype() == input.dtype() && edges.dim() == 1 && edges.numel() >= 2,
           "expected at least two edges of the input's dtype ", input.dtype(), ", got ",
           edges.dtype(), " of shape ", edges.sizes());
  FB_CHECK(
      !weight.defined() || (weight.sizes() == input.sizes() && weight.dtype() == input.dtype()),
      "expected weight of the input's shape and dtype");
  const Tensor x = contiguous(input);
  const Tensor bounds = contiguous(edges);
  const Tensor each = weight.defined() ? contiguous(weight) : weight;
  Tensor hist = zeros_of(edges.numel() - 1, x.dtype(), x.device());
  kernel::of(x).histogram({.dtype = x.dtype(),
                           .in = x.data(),
                           .n = x.numel(),
                           .weights = each.defined() ? each.data() : nullptr,
                           .edges = bounds.data(),
                           .bins = hist.numel(),
                           .uniform = uniform},
                          hist.data());
  if (!density) return hist;
  return ops::div(hist, ops::mul(ops::sum(hist, {}, false, {}), ops::diff(bounds, 1, -1, {}, {})));
}

}  // namespace

Tensor compute::bincount(const Tensor& input, const Tensor& weights, int64_t minlength) {
  FB_CHECK(minlength >= 0, "expected a minlength that is not negative, got ", minlength);
  FB_CHECK(input.dim() == 1, "expected a 1-D input of non-negative integers, got shape ",
           input.sizes());
  const Tensor values = contiguous(cast(input, DType::kInt64));
  int64_t bins = minlength;
  if (values.numel() > 0) {
    const auto [low, high] = compute::aminmax(values, {}, false);
    const auto least = host_number(low).to<int64_t>();
    FB_CHECK(least >= 0, "expected a 1-D input of non-negative integers, got ", least);
    const auto largest = host_number(high).to<int64_t>();
    FB_CHECK(largest < std::numeric_limits<int64_t>::max(),
             "expected fewer than 2^63 bins, got a largest value of ", largest);
    bins = std::max(bins, largest + 1);
  }
  if (!weights.defined()) {
    Tensor counts = make_tensor({bins}, DType::kInt64, input.device());
    kernel::of(values).count_values(values.data_as<int64_t>(), values.numel(),
                                    counts.data_as<int64_t>(), bins);
    return counts;
  }
  FB_CHECK(weights.sizes() == input.sizes(), "expected weights of the input's shape ",
           input.sizes(), ", got ", weights.sizes());
  const DType dtype = weights.dtype() == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  const Tensor each = contiguous(cast(weights, dtype));
  Tensor sums = zeros_of(bins, dtype, input.device());
  kernel::of(values).sum_weights(dtype, values.data_as<int64_t>(), each.data(), values.numel(),
                                 sums.data(), bins);
  return sums;
}

Tensor compute::histc(const Tensor& input, int64_t bins, const Scalar& min, const Scalar& max) {
  FB_CHECK(bins > 0, "expected bins > 0, got ", bins);
  double low = min.to<double>();
  double high = max.to<double>();
  const Tensor x = contiguous(cast(input, compute_type(input.dtype())));
  if (low == high && x.numel() > 0) {
    const auto [smallest, largest] = compute::aminmax(x, {}, false);
    low = host_number(smallest).to<double>();
    high = host_number(largest).to<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  FB_CHECK(std::isfinite(low) && std::isfinite(high), "the range of [", low, ", ", high,
           "] is not finite");
  FB_CHECK(low < high, "expected max to be larger than min, got min=", low, " and max=", high);
  Tensor counts = zeros_of(bins, x.dtype(), x.device());
  kernel::of(x).histogram_even(x.dtype(), x.data(), x.numel(), low, high, bins, counts.data());
  return cast(counts, input.dtype());
}

std::tuple<Tensor, Tensor> compute::histogram(const Tensor& input, const Tensor& bins,
                                              const Range& range, const Tensor& weight,
                                              bool density) {
  FB_CHECK(!range, "range is only allowed with a number of bins, not with edges");
  return {counted(input, bins, weight, density, false), contiguous(copy_of(bins))};
}

std::tuple<Tensor, Tensor> compute::histogram(const Tensor& input, int64_t bins, const Range& range,
                                              const Tensor& weight, bool density) {
  FB_CHECK(bins > 0, "expected bins > 0, got ", bins);
  FB_CHECK(!range || range->size() == 2, "expected a range of two numbers, got ",
           range ? range->size() : 0);
  double low = 0;
  double high = 1;
  if (range) {
    low = (*range)[0];
    high = (*range)[1];
  } else if (input.numel() > 0) {
    const auto [smallest, largest] = compute::aminmax(input, {}, false);
    low = host_number(smallest).to<double>();
    high = host_number(largest).to<double>();
  }
  FB_CHECK(std::isfinite(low) && std::isfinite(high), "the range of [", low, ", ", high,
           "] is not finite");
  FB_CHECK(low <= high, "expected an increasing range, got [", low, ", ", high, "]");
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const Tensor edges =
      compute::linspace(low, high, checked_add(bins, 1), input.dtype(), input.device());
  return {counted(input, edges, weight, density, true), edges};
}

}  // namespace fb::ops
