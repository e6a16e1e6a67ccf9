// Images of bytes.
#include "ops/pixels.h"

#include "cpu/pixels.h"
#include "ops/output.h"

namespace fb::ops {

Tensor resize_bytes(const Tensor& image, const Separable& maps, int bits) {
  const int64_t channels = image.size(1);
  const bool mixed = channels > 1 && image.stride(1) == 1 && image.stride(3) == channels;
  const bool planar = image.stride(3) == 1 || image.size(3) == 1;
  const Tensor in = mixed || planar ? image : contiguous(image);
  cpu::ByteResizePlan plan;
  plan.images = in.size(0);
  plan.image_step = in.stride(0);
  plan.planes = mixed ? 1 : channels;
  plan.plane_step = in.stride(1);
  plan.row_step = in.stride(2);
  plan.inner = mixed ? channels : 1;
  plan.height = cpu::in_integers(maps[0], bits);
  plan.width = cpu::in_integers(maps[1], bits);
  const Dims sizes{in.size(0), channels, plan.height.out, plan.width.out};
  const Tensor out = mixed ? make_strided(sizes, channels_last_strides(sizes), DType::kUInt8)
                           : make_tensor(sizes, DType::kUInt8);
  if (out.numel() > 0) FB_KERNEL(resize_bytes)(plan, in.data_as<uint8_t>(), out.data_as<uint8_t>());
  return out;
}

}  // namespace fb::ops
