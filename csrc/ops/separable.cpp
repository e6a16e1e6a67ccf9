// Separable maps of tensors.
#include "ops/separable.h"

#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {

Separable transposed(const Separable& maps) {
  Separable result;
  for (const kernel::AxisMap& map : maps) result.push_back(kernel::transposed(map));
  return result;
}

Tensor run_separable(const Image& image, Separable maps) {
  const DType dtype = image.elements.dtype();
  const bool is_pair = is_complex(dtype);
  kernel::ResamplePlan plan;
  plan.planes = image.planes();
  plan.inner = image.inner() * (is_pair ? 2 : 1);
  Dims space;
  for (const kernel::AxisMap& map : maps) space.push_back(map.out);
  for (size_t i = 0; i < 3; ++i)
    plan.axis[i] =
        i + maps.size() < 3 ? kernel::identity_map(1) : std::move(maps[i + maps.size() - 3]);
  Tensor out = image.make(space);
  if (out.numel() == 0) return out;
  kernel::of(out).resample(is_pair ? real_type(dtype) : dtype, plan, image.elements.data(),
                           out.data());
  return out;
}

Tensor run_rounding(const Image& image, Separable maps) {
  Image step = image;
  for (size_t i = maps.size(); i-- > 0;) {
    if (maps[i].identity) continue;
    Separable one;
    for (size_t d = 0; d < maps.size(); ++d)
      one.push_back(d == i ? std::move(maps[i]) : kernel::identity_map(step.space()[d]));
    step.elements = run_separable(step, std::move(one));
  }
  return step.elements.is_same(image.elements) ? copy_of(image.elements) : step.elements;
}

}  // namespace fb::ops
