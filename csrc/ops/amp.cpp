// What a GradScaler does to gradients and to its scale.
#include "gen/ops/amp.h"

#include <cmath>

#include "cpu/unscale.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/info.h"
#include "gen/ops/reduce.h"
#include "ops/output.h"

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
    return FB_KERNEL(unscale)(t.data(), t.numel(), t.dtype(), factor);
  }
  const Tensor finite = all(isfinite(t));
  mul_(t, Scalar(factor));
  return Scalar::load(DType::kBool, finite.data()).to<bool>();
}

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList tensors, const Tensor& found_inf,
                                                const Tensor& inv_scale) {
  check_number(found_inf, DType::kFloat32, "found_inf");
  check_number(inv_scale, DType::kFloat32, "inv_scale");
  const auto factor = static_cast<double>(*inv_scale.data_as<float>());
  bool finite = true;
  for (const Tensor& t : tensors) finite &= unscale(t, factor);
  if (finite) return;
  *found_inf.data_as<float>() = 1;
  found_inf.bump_version("_amp_foreach_non_finite_check_and_unscale_");
}

void compute::_amp_update_scale_(const Tensor& input, const Tensor& growth_tracker,
                                 const Tensor& found_inf, double scale_growth_factor,
                                 double scale_backoff_factor, int64_t growth_interval) {
  check_number(input, DType::kFloat32, "the scale");
  check_number(growth_tracker, DType::kInt32, "growth_tracker");
  check_number(found_inf, DType::kFloat32, "found_inf");
  float& scale = *input.data_as<float>();
  int32_t& steps = *growth_tracker.data_as<int32_t>();
  growth_tracker.bump_version("_amp_update_scale_");
  if (*found_inf.data_as<float>() != 0) {
    scale = static_cast<float>(static_cast<double>(scale) * scale_backoff_factor);
    steps = 0;
  } else if (const int64_t done = int64_t{steps} + 1; done != growth_interval) {
    steps = static_cast<int32_t>(done);
  } else {
    const auto grown = static_cast<float>(static_cast<double>(scale) * scale_growth_factor);
    if (std::isfinite(grown)) scale = grown;
    steps = 0;
  }
}

}  // namespace fb::ops
