// What a GradScaler does to gradients and to its scale.
#include "gen/ops/amp.h"

#include <vector>

#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

void check_number(const Tensor& t, DType dtype, const char* name) {
  FB_CHECK(t.numel() == 1 && t.dtype() == dtype, name, " must have one element of type ", dtype,
           ", got shape ", t.sizes(), " and ", t.dtype());
}

// A gradient as the kernel takes it.
Tensor taken(const Tensor& t) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(t.dtype()),
              "expected gradients of a floating-point type, got ", t.dtype());
  check_writable(t);
  const DType wide = t.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  return t.dtype() == wide && is_dense(t.sizes(), t.strides()) ? t : contiguous(cast(t, wide));
}

}  // namespace

void compute::_amp_foreach_non_finite_check_and_unscale_(TensorList tensors,
                                                         const Tensor& found_inf,
                                                         const Tensor& inv_scale) {
  check_number(found_inf, DType::kFloat32, "found_inf");
  check_number(inv_scale, DType::kFloat32, "inv_scale");
  if (tensors.empty()) return;
  std::vector<Tensor> all;
  std::vector<kernel::OptimTensor> parts;
  for (const Tensor& t : tensors) {
    all.push_back(taken(t));
    parts.push_back({all.back().data(), nullptr, {}, t.numel(), all.back().dtype(), nullptr});
  }
  kernel::of(tensors[0]).unscale(parts, inv_scale.data_as<float>(), found_inf.data_as<float>());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!all[i].is_same(tensors[i])) copy_into(tensors[i], all[i]);
    tensors[i].bump_version("_amp_foreach_non_finite_check_and_unscale_");
  }
  found_inf.bump_version("_amp_foreach_non_finite_check_and_unscale_");
}

void compute::_amp_update_scale_(const Tensor& input, const Tensor& growth_tracker,
                                 const Tensor& found_inf, double scale_growth_factor,
                                 double scale_backoff_factor, int64_t growth_interval) {
  check_number(input, DType::kFloat32, "the scale");
  check_number(growth_tracker, DType::kInt32, "growth_tracker");
  check_number(found_inf, DType::kFloat32, "found_inf");
  growth_tracker.bump_version("_amp_update_scale_");
  kernel::of(input).update_scale(input.data_as<float>(), growth_tracker.data_as<int32_t>(),
                                 found_inf.data_as<float>(),
                                 {scale_growth_factor, scale_backoff_factor, growth_interval});
}

}  // namespace fb::ops
