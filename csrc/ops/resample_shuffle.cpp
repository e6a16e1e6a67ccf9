// Pixel and channel shuffles: interleaved rows, or a copy between split dimensions.
#include "gen/ops/resample.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/image.h"

namespace fb::ops {
namespace {

// The same elements with dimension `dim` as several, the last of them the fastest.
Tensor with_split(const Tensor& t, int64_t dim, std::initializer_list<int64_t> parts) {
  const auto d = static_cast<size_t>(wrap_dim(dim, t.dim()));
  Dims sizes, strides;
  for (size_t i = 0; i < d; ++i) {
    sizes.push_back(t.sizes()[i]);
    strides.push_back(t.strides()[i]);
  }
  int64_t step = t.strides()[d] * numel_of(IntSpan(parts));
  for (const int64_t part : parts) {
    step = part > 0 ? step / part : step;
    sizes.push_back(part);
    strides.push_back(step);
  }
  for (size_t i = d + 1; i < t.sizes().size(); ++i) {
    sizes.push_back(t.sizes()[i]);
    strides.push_back(t.strides()[i]);
  }
  return inner_view(t, sizes, strides, t.offset());
}

// Pixels in blocks, (*, C, H, r, W, r), as (*, C, r, r, H, W).
Tensor blocks_as_channels(const Tensor& image, int64_t factor) {
  const int64_t height = image.size(-2) / factor, width = image.size(-1) / factor;
  const Tensor blocks = with_split(with_split(image, -1, {width, factor}), -3, {height, factor});
  Dims order;
  for (int64_t d = 0; d < blocks.dim() - 4; ++d) order.push_back(d);
  for (const int64_t d : {3, 1, 4, 2}) order.push_back(blocks.dim() - d);
  return compute::permute(blocks, order);
}

// The dimensions before the last three, followed by the given ones.
Dims with_last(const Tensor& t, int64_t channels, int64_t height, int64_t width) {
  Dims sizes = t.sizes().first(static_cast<size_t>(t.dim() - 3)).vec();
  for (const int64_t size : {channels, height, width}) sizes.push_back(size);
  return sizes;
}

// `image` has the shuffled channels; `left` channels are left per sample when it is unshuffled.
kernel::PixelPlan pixel_plan(const Tensor& image, int64_t left, int64_t factor) {
  const int64_t samples = numel_of(image.sizes().first(static_cast<size_t>(image.dim() - 3)));
  return {samples * left, image.size(-2), image.size(-1), factor,
          static_cast<int64_t>(image.element_size())};
}

void check_factor(const Tensor& input, int64_t factor, const char* name) {
  FB_CHECK(input.dim() >= 3, "expected at least 3 dimensions, got shape ", input.sizes());
  FB_CHECK(factor > 0, name, " must be positive, got ", factor);
  check_countable({&factor, 1}, name);
}

}  // namespace

Tensor compute::pixel_shuffle(const Tensor& input, int64_t factor) {
  check_factor(input, factor, "upscale_factor");
  const int64_t channels = input.size(-3);
  FB_CHECK(channels % (factor * factor) == 0, "channels of input ", input.sizes(),
           " must be divisible by the square of upscale_factor ", factor);
  const int64_t left = channels / (factor * factor);
  Tensor out = make_image_of(
      input, with_last(input, left, input.size(-2) * factor, input.size(-1) * factor));
  if (out.numel() == 0) return out;
  if (input.is_contiguous() && out.is_contiguous())
    kernel::of(out).channels_to_pixels(pixel_plan(input, left, factor), input.data(), out.data());
  else
    kernel::copy(blocks_as_channels(out, factor), with_split(input, -3, {left, factor, factor}));
  return out;
}

Tensor compute::pixel_unshuffle(const Tensor& input, int64_t factor) {
  check_factor(input, factor, "downscale_factor");
  const int64_t channels = input.size(-3), height = input.size(-2), width = input.size(-1);
  FB_CHECK(height % factor == 0 && width % factor == 0, "height and width of input ", input.sizes(),
           " must be divisible by downscale_factor ", factor);
  Tensor out = make_image_of(
      input, with_last(input, channels * factor * factor, height / factor, width / factor));
  if (out.numel() == 0) return out;
  if (input.is_contiguous() && out.is_contiguous())
    kernel::of(out).pixels_to_channels(pixel_plan(out, channels, factor), input.data(), out.data());
  else
    kernel::copy(with_split(out, -3, {channels, factor, factor}),
                 blocks_as_channels(input, factor));
  return out;
}

Tensor compute::channel_shuffle(const Tensor& input, int64_t groups) {
  FB_CHECK(input.dim() > 2, "expected more than 2 dimensions, got shape ", input.sizes());
  FB_CHECK(groups > 0, "groups must be positive, got ", groups);
  const int64_t channels = input.size(1);
  FB_CHECK(channels % groups == 0, "channels of input ", input.sizes(),
           " must be divisible by groups ", groups);
  Tensor out = make_image_of(input, input.sizes());
  if (out.numel() > 0)
    kernel::copy(compute::transpose(with_split(out, 1, {channels / groups, groups}), 1, 2),
                 with_split(input, 1, {groups, channels / groups}));
  return out;
}

}  // namespace fb::ops
