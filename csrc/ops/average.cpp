// Running averages of many tensors at once.
#include "gen/ops/average.h"

#include <vector>

#include "core/error.h"
#include "gen/ops/arith.h"
#include "kernel/table.h"

namespace fb::ops {
namespace {

// Whether a kernel of the device can read both as one contiguous block of memory.
bool lie_alike(const Tensor& t, const Tensor& end, Device device) {
  return t.device() == device && end.device() == device && is_floating(t.dtype()) &&
         t.dtype() == end.dtype() && t.sizes() == end.sizes() && t.strides() == end.strides() &&
         is_dense(t.sizes(), t.strides());
}

}  // namespace

void compute::_lerp_all(TensorList tensors, TensorList ends, double weight) {
  FB_CHECK(tensors.size() == ends.size(), "expected one end for each tensor, ", tensors.size(),
           ", but got ", ends.size());
  const kernel::AverageNumbers numbers{weight};
  std::vector<kernel::OptimTensor> alike;
  alike.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (lie_alike(t, ends[i], tensors[0].device())) {
      alike.push_back({t.data(), ends[i].data(), {}, t.numel(), t.dtype(), &numbers});
      t.bump_version("_lerp_all");
    } else {
      ops::lerp_(t, ends[i], Scalar(weight));
    }
  }
  if (!alike.empty()) kernel::of(tensors[0]).optim_average(alike);
}

}  // namespace fb::ops
