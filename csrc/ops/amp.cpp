// What a GradScaler does to gradients and to its scale.
#include "gen/ops/amp.h"

#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/info.h"
#include "gen/ops/reduce.h"
#include "kernel/table.h"
#include "ops/host.h"

namespace fb::ops {
namespace {

void check_number(const Tensor& t, DType dtype, const char* name) {
  FB_CHECK(t.numel() == 1 && t.dtype() == dtype, name, " must have one element of type ", dtype,
           ", got shape ", t.sizes(), " and ", t.dtype());
}

bool has_kernel(const Tensor& t) {
  const bool is_wide = t.dtype() == DType::kFloat32 || t.dtype() == DType::kFloat64;
  return is_wide && is_dense(t.sizes(), t.strides());
}

// Returns whether all elements were finite.
bool unscale(const Tensor& t, double factor) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(t.dtype()),
              "expected gradients of a floating-point type, got ", t.dtype());
  if (has_kernel(t)) {
    t.bump_version("_amp_foreach_non_finite_check_and_unscale_");
    return kernel::of(t).unscale(t.data(), t.numel(), t.dtype(), factor);
  }
  const Tensor finite = ops::all(ops::isfinite(t));
  ops::mul_(t, Scalar(factor));
  return host_number(finite).to<bool>();
}

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList tensors, const Tensor& found_inf,
                                                const Tensor& inv_scale) {
  check_number(found_inf, DType::kFloat32, "found_inf");
  check_number(inv_scale, DType::kFloat32, "inv_scale");
  const auto factor = host_number(inv_scale).to<double>();
  bool finite = true;
  for (const Tensor& t : tensors) finite &= unscale(t, factor);
  if (finite) return;
  kernel::of(found_inf).fill(found_inf, 1.0);
  found_inf.bump_version("_amp_foreach_non_finite_check_and_unscale_");
}

void compute::_amp_update_scale_(const Tensor& input, const Tensor& growth_tracker,
                                 const Tensor& found_inf, double scale_growth_factor,
                                 double scale_backoff_factor, int64_t growth_interval) {
  check_number(input, DType::kFloat32, "the scale");
  check_number(growth_tracker, DType::kInt32, "growth_tracker");
  check_number(found_inf, DType::kFloat32, "found_inf");
  growth_tracker.bump_version("_amp_update_scale_");
  const auto set_scale = [&](float scale) { kernel::of(input).fill(input, scale); };
  const auto set_steps = [&](int64_t steps) {
    kernel::of(growth_tracker).fill(growth_tracker, steps);
  };
  const double scale = host_number(input).to<double>();
  if (host_number(found_inf).to<double>() != 0) {
    set_scale(static_cast<float>(scale * scale_backoff_factor));
    set_steps(0);
    return;
  }
  const int64_t done = host_number(growth_tracker).to<int64_t>() + 1;
  if (done != growth_interval) return set_steps(done);
  const auto grown = static_cast<float>(scale * scale_growth_factor);
  if (std::isfinite(grown)) set_scale(grown);
  set_steps(0);
}

}  // namespace fb::ops
