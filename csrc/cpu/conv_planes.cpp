// Convolutions over images whose channels are planes: by products of matrices where kernels have
// one element, by kernels of our own where they keep channels apart.
#include <algorithm>

#include "cpu/conv_depthwise.h"
#include "cpu/conv_impl.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

DepthwiseCall forward(const ConvShape& s) {
  return {s.in_channels, s.in[1],     s.in[2],      s.out[1],     s.out[2],
          s.kernel[1],   s.kernel[2], s.padding[1], s.padding[2], false};
}

// From the gradient of the result to that of the image.
DepthwiseCall backward(const ConvShape& s) {
  return {s.in_channels,
          s.out[1],
          s.out[2],
          s.in[1],
          s.in[2],
          s.kernel[1],
          s.kernel[2],
          s.kernel[1] - 1 - s.padding[1],
          s.kernel[2] - 1 - s.padding[2],
          true};
}

void depthwise(const ConvShape& s, const DepthwiseCall& call, const Tensor& from,
               const Tensor& weight, const Tensor& bias, const Tensor& to) {
  const int64_t grain = std::max<int64_t>(1, kGrain / (call.to_height * call.to_width));
  parallel_for(s.batch * call.channels, grain, [&](int64_t begin, int64_t end) {
    FB_KERNEL(depthwise_planes)
    (call, from.data_as<float>(), weight.data_as<float>(),
     bias.defined() ? bias.data_as<float>() : nullptr, to.data_as<float>(), begin, end);
  });
}

}  // namespace

void conv_planes(const ConvShape& shape, const Tensor& in, const Tensor& weight, const Tensor& bias,
                 const Tensor& out) {
  if (shape.is_pointwise()) return conv_pointwise(shape, in, weight, bias, out);
  depthwise(shape, forward(shape), in, weight, bias, out);
}

void conv_planes_data(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                      const Tensor& bias, const Tensor& in) {
  if (shape.is_pointwise()) return conv_pointwise_data(shape, out, weight, bias, in);
  depthwise(shape, backward(shape), out, weight, bias, in);
}

void conv_planes_weight(const ConvShape& shape, const Tensor& in, const Tensor& out,
                        const Tensor& weight) {
  if (shape.is_pointwise()) return conv_pointwise_weight(shape, in, out, weight);
  const DepthwiseCall call = forward(shape);
  const int64_t plane = shape.batch * call.to_height * call.to_width;
  parallel_for(call.channels, std::max<int64_t>(1, kGrain / plane),
               [&](int64_t begin, int64_t end) {
                 FB_KERNEL(depthwise_weight)
                 (call, shape.batch, in.data_as<float>(), out.data_as<float>(),
                  weight.data_as<float>(), begin, end);
               });
}

}  // namespace fb::cpu
