// Convolutions: chooses the implementation.
#include "cpu/conv.h"

#include "core/layout.h"
#include "cpu/conv_impl.h"
#include "cpu/copy.h"

namespace fb::cpu {
namespace {

Tensor in_a_known_order(const Tensor& weight) {
  return dense_weight(weight, !weight.is_contiguous() && is_channels_last(weight));
}

#if defined(FB_HAVE_ONEDNN)
// Measured: with few channels per pixel, oneDNN's gradient of the image fills its vectors with
// padding and takes two to five times as long.
constexpr int64_t kFewChannels = 8;

bool by_onednn(ConvPass pass, const ConvShape& s, DType dtype) {
  if (pass == ConvPass::kBackwardData && s.groups == 1 && s.in_channels <= kFewChannels &&
      s.window() > 1 && dtype == DType::kFloat32) {
    return false;
  }
  return conv_onednn_takes(s, dtype);
}
#endif

}  // namespace

Tensor dense_weight(const Tensor& weight, bool channels_last) {
  if (channels_last ? is_channels_last(weight) : weight.is_contiguous()) return weight;
  Tensor copied = channels_last
                      ? make_strided(weight.sizes(), channels_last_strides(weight.sizes()),
                                     weight.dtype(), weight.device())
                      : make_tensor(weight.sizes(), weight.dtype(), weight.device());
  copy(copied, weight);
  return copied;
}

bool conv_supports([[maybe_unused]] const ConvShape& shape, DType dtype) {
#if defined(FB_HAVE_ONEDNN)
  if (dtype == DType::kBFloat16) return conv_onednn_takes(shape, dtype);
#endif
  return dtype != DType::kBool && !is_reduced_float(dtype);
}

void fill_pixels(const Tensor& image, const Tensor& bias) {
  if (!bias.defined()) return fill(image, 0);
  Dims strides(image.dim());
  strides[1] = bias.strides()[0];
  copy(image, inner_view(bias, image.sizes(), strides, bias.offset()));
}

void conv_forward(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                  const Tensor& bias, const Tensor& out) {
  if (conv_winograd_takes(ConvPass::kForward, shape, in.dtype()))
    return conv_forward_winograd(shape, in, dense_weight(weight, false), bias, out);
  if (conv_gathered_takes(ConvPass::kForward, shape, in.dtype()))
    return conv_forward_gathered(shape, in, weight, bias, out);
#if defined(FB_HAVE_ONEDNN)
  if (by_onednn(ConvPass::kForward, shape, in.dtype()))
    return conv_forward_onednn(shape, in, in_a_known_order(weight), bias, out);
#endif
  conv_forward_columns(shape, in, dense_weight(weight, true), bias, out);
}

void conv_backward_data(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                        const Tensor& bias, const Tensor& in) {
  if (conv_winograd_takes(ConvPass::kBackwardData, shape, in.dtype()))
    return conv_backward_data_winograd(shape, out, dense_weight(weight, false), bias, in);
#if defined(FB_HAVE_ONEDNN)
  if (by_onednn(ConvPass::kBackwardData, shape, in.dtype()))
    return conv_backward_data_onednn(shape, out, in_a_known_order(weight), bias, in);
#endif
  conv_backward_data_columns(shape, out, dense_weight(weight, true), bias, in);
}

void conv_backward_weight(const ConvShape& shape, const Tensor& in, const Tensor& out,
                          const Tensor& weight) {
  if (conv_winograd_takes(ConvPass::kBackwardWeight, shape, in.dtype())) {
    const Tensor sums = weight.is_contiguous()
                            ? weight
                            : make_tensor(weight.sizes(), weight.dtype(), weight.device());
    conv_backward_weight_winograd(shape, in, out, sums);
    if (!sums.is_same(weight)) copy(weight, sums);
    return;
  }
  if (weight.is_contiguous() && conv_pixels_takes(shape, in.dtype()))
    return conv_backward_weight_pixels(shape, in, out, weight);
  const bool is_gathered = conv_gathered_takes(ConvPass::kBackwardWeight, shape, in.dtype());
#if defined(FB_HAVE_ONEDNN)
  if (!is_gathered && by_onednn(ConvPass::kBackwardWeight, shape, in.dtype()))
    return conv_backward_weight_onednn(shape, in, out, weight);
#endif
  const Tensor sums = is_channels_last(weight)
                          ? weight
                          : make_strided(weight.sizes(), channels_last_strides(weight.sizes()),
                                         weight.dtype(), weight.device());
  const auto run = is_gathered ? conv_backward_weight_gathered : conv_backward_weight_columns;
  run(shape, in, out, sums);
  if (!sums.is_same(weight)) copy(weight, sums);
}

}  // namespace fb::cpu
