// Images of bytes.
#include "ops/pixels.h"

#include "gen/ops/pixels.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/resample_maps.h"

namespace fb::ops {

Tensor resize_bytes(const Tensor& image, const Separable& maps, int bits) {
  const int64_t channels = image.size(1);
  const bool mixed = channels > 1 && image.stride(1) == 1 && image.stride(3) == channels;
  const bool planar = image.stride(3) == 1 || image.size(3) == 1;
  const Tensor in = mixed || planar ? image : contiguous(image);
  kernel::ByteResizePlan plan;
  plan.images = in.size(0);
  plan.image_step = in.stride(0);
  plan.planes = mixed ? 1 : channels;
  plan.plane_step = in.stride(1);
  plan.row_step = in.stride(2);
  plan.inner = mixed ? channels : 1;
  plan.height = kernel::in_integers(maps[0], bits);
  plan.width = kernel::in_integers(maps[1], bits);
  const Dims sizes{in.size(0), channels, plan.height.out, plan.width.out};
  const Tensor out =
      mixed ? make_strided(sizes, channels_last_strides(sizes), DType::kUInt8, in.device())
            : make_tensor(sizes, DType::kUInt8, in.device());
  if (out.numel() > 0)
    kernel::of(out).resize_bytes(plan, in.data_as<uint8_t>(), out.data_as<uint8_t>());
  return out;
}

Tensor compute::_resize_bytes(const Tensor& input, int64_t height, int64_t width,
                              const std::string& kind, int64_t bits) {
  FB_CHECK(input.dim() == 4 && input.dtype() == DType::kUInt8,
           "expected an image (N, C, H, W) of uint8, got shape ", input.sizes(), " of ",
           input.dtype());
  FB_CHECK(height > 0 && width > 0 && input.size(2) > 0 && input.size(3) > 0,
           "sizes of input and output must be greater than zero, got input ", input.sizes(),
           " and output (", height, ", ", width, ")");
  FB_CHECK(bits > 0 && bits <= kernel::kPillowBits, "bits must be from 1 to ", kernel::kPillowBits,
           ", got ", bits);
  const Dims sizes{input.size(0), input.size(1), height, width};
  check_countable(sizes, "size");
  check_memory(sizes, DType::kUInt8, input.device());
  if (numel_of(sizes) == 0) return make_tensor(sizes, DType::kUInt8, input.device());
  Separable maps;
  for (int64_t d = 2; d < 4; ++d)
    maps.push_back(
        resampling_map({kind, input.size(d), sizes[d], std::nullopt, false, /*in_double=*/true}));
  return resize_bytes(input, maps, static_cast<int>(bits));
}

Tensor compute::_map_bytes(const Tensor& input, const Tensor& table) {
  FB_CHECK(input.dim() >= 3 && input.dtype() == DType::kUInt8,
           "expected an image (..., C, H, W) of uint8, got shape ", input.sizes(), " of ",
           input.dtype());
  const int64_t channels = input.size(-3);
  FB_CHECK(
      table.dim() == 2 && table.size(1) == 256 && (table.size(0) == channels || table.size(0) == 1),
      "expected a table of shape (", channels, ", 256) or (1, 256), got ", table.sizes());
  // Several dimensions before the channels can rarely be merged into one.
  const Tensor in = input.dim() <= 4 ? input : contiguous(input);
  const Tensor entries = contiguous(table);
  const Tensor out = make_tensor(in.sizes(), table.dtype(), in.device());
  if (out.numel() == 0) return out;
  kernel::ByteMapPlan plan;
  plan.channels = channels;
  plan.height = in.size(-2);
  plan.width = in.size(-1);
  plan.images = in.numel() / (channels * plan.height * plan.width);
  plan.image_step = in.dim() > 3 ? in.stride(-4) : 0;
  plan.channel_step = in.stride(-3);
  plan.row_step = in.stride(-2);
  plan.step = in.stride(-1);
  plan.entry_bytes = table.element_size();
  plan.table_step = table.size(0) == 1 ? 0 : 256;
  kernel::of(out).map_bytes(plan, in.data_as<uint8_t>(), entries.data(), out.data());
  return out;
}

}  // namespace fb::ops
