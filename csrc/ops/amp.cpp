// What a GradScaler does to gradients and to its scale.
#include "gen/ops/amp.h"

#include <cmath>

#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

void check_number(const Tensor& t, DType dtype, const char* name) {
  FB_CHECK(t.numel() == 1 && t.dtype() == dtype, name, " must have one element of type ", dtype,
           ", got shape ", t.sizes(), " and ", t.dtype());
}

void unscale(const Tensor& t, const Tensor& found_inf, const Tensor& inv_scale) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(t.dtype()),
              "expected gradients of a floating-point type, got ", t.dtype());
  check_writable(t);
  const DType wide = t.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const bool is_taken = t.dtype() == wide && is_dense(t.sizes(), t.strides());
  const Tensor taken = is_taken ? t : contiguous(cast(t, wide));
  kernel::of(t).unscale(taken.data(), taken.numel(), wide, inv_scale.data_as<float>(),
                        found_inf.data_as<float>());
  if (!is_taken) copy_into(t, taken);
  t.bump_version("_amp_foreach_non_finite_check_and_unscale_");
}

}  // namespace

void compute::_amp_foreach_non_finite_check_and_unscale_(TensorList tensors,
                                                         const Tensor& found_inf,
                                                         const Tensor& inv_scale) {
  check_number(found_inf, DType::kFloat32, "found_inf");
  check_number(inv_scale, DType::kFloat32, "inv_scale");
  for (const Tensor& t : tensors) unscale(t, found_inf, inv_scale);
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
