// Convolutions of images in memory: forward and the two gradients. A transposed convolution is the
// gradient of another one with respect to its input, so these three are enough.
#pragma once

#include <array>

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

using Extent = std::array<int64_t, 3>;

// The geometry of a convolution from an image `in` to an image `out`. There are always three
// spatial dimensions; if an image has fewer, the first ones are 1.
struct ConvShape {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of all groups
  Extent in, out, kernel, stride, padding, dilation;

  bool operator==(const ConvShape&) const = default;
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  int64_t window() const { return kernel[0] * kernel[1] * kernel[2]; }
  bool is_pointwise() const {
    return groups == 1 && window() == 1 && stride == Extent{1, 1, 1} && in == out;
  }
  // Whether each channel has a small kernel of its own, over planes of which some rows with their
  // padding fit into a strip.
  bool is_depthwise() const {
    if (groups != in_channels || in_channels != out_channels || window() > kDepthwiseTaps ||
        in[0] != 1 || kernel[0] != 1 || out[0] != 1)
      return false;
    for (size_t d = 0; d < 3; ++d)
      if (stride[d] != 1 || dilation[d] != 1 || padding[d] >= kernel[d]) return false;
    const int64_t pitch = (in[2] > out[2] ? in[2] : out[2]) + 2 * kernel[2];
    return pitch * (kernel[1] + 3) <= kDepthwiseStrip;
  }
  // Whether images whose channels are planes are convolved as they are.
  bool takes_planes(DType dtype) const {
    return is_pointwise() || (dtype == DType::kFloat32 && is_depthwise());
  }
  static constexpr int64_t kDepthwiseTaps = 49, kDepthwiseStrip = 6144;  // elements

  // Multiplications of each of the three.
  int64_t work() const {
    return batch * out_channels * out[0] * out[1] * out[2] * group_in() * window();
  }
};

struct Conv {
  // Images are (batch, channels, spatial...) with channels last in memory; the weight is
  // (out_channels, group_in, kernel...) in any layout; all have the same dtype, a 16-bit one only
  // if conv_supports allows it. Nothing is empty. A bias may be undefined.
  Slot<void(const ConvShape& shape, const Tensor& in, const Tensor& weight, const Tensor& bias,
            const Tensor& out)>
      conv_forward;
  // `bias` is added to every pixel of `in`: the forward pass of a transposed convolution has one.
  Slot<void(const ConvShape& shape, const Tensor& out, const Tensor& weight, const Tensor& bias,
            const Tensor& in)>
      conv_backward_data;
  Slot<void(const ConvShape& shape, const Tensor& in, const Tensor& out, const Tensor& weight)>
      conv_backward_weight;

  // The same over contiguous images and weights, whose channels are planes, where takes_planes()
  // says so.
  Slot<void(const ConvShape& shape, const Tensor& in, const Tensor& weight, const Tensor& bias,
            const Tensor& out)>
      conv_planes;
  Slot<void(const ConvShape& shape, const Tensor& out, const Tensor& weight, const Tensor& bias,
            const Tensor& in)>
      conv_planes_data;
  Slot<void(const ConvShape& shape, const Tensor& in, const Tensor& out, const Tensor& weight)>
      conv_planes_weight;

  // Gives every pixel of an image the channels of `bias`, or zeros if that is undefined.
  Slot<void(const Tensor& image, const Tensor& bias)> fill_pixels;

  // Whether a convolution takes 16-bit floats as they are; otherwise the caller computes in
  // float32.
  Slot<bool(const ConvShape& shape, DType dtype)> conv_supports;
};

}  // namespace fb::kernel
