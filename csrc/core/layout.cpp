// The memory order of images.
#include "core/layout.h"

namespace fb {
namespace {

Tensor make_channels_last(IntSpan sizes, DType dtype, Device device, bool is_deferred) {
  Tensor image = make_tensor(sizes, dtype, device);
  // For one channel, or one pixel, both orders are the same, and contiguous strides are simpler.
  const Dims strides = channels_last_strides(sizes);
  const Dims plain = image.strides().vec();
  image->set_known_geometry(sizes, strides);
  if (image.is_contiguous())
    image->set_known_geometry(sizes, plain);
  else
    image->deferred_layout = is_deferred;
  return image;
}

}  // namespace

Dims channels_last_strides(IntSpan sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  const auto lay_out = [&](size_t dim) {
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  };
  if (sizes.size() > 1) lay_out(1);
  for (size_t dim = sizes.size(); dim-- > 2;) lay_out(dim);
  if (!sizes.empty()) lay_out(0);
  return strides;
}

bool is_channels_last(const Tensor& t) {
  if (t.dim() < 3) return false;
  const Dims expected = channels_last_strides(t.sizes());
  for (int64_t i = 0; i < t.dim(); ++i)
    if (t.sizes()[i] != 1 && t.strides()[i] != expected[i]) return false;
  return true;
}

Tensor make_deferred_image(IntSpan sizes, DType dtype, Device device) {
  return make_channels_last(sizes, dtype, device, true);
}

Tensor make_image(IntSpan sizes, DType dtype, const Tensor& like) {
  if (like.is_contiguous() || !is_channels_last(like))
    return make_tensor(sizes, dtype, like.device());
  if (like->deferred_layout) return make_channels_last(sizes, dtype, like.device(), true);
  // The user's own layout keeps its strides, even if both orders are the same.
  return make_strided(sizes, channels_last_strides(sizes), dtype, like.device());
}

}  // namespace fb
