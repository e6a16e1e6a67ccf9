// The implementations that convolutions choose from.
#pragma once

#include "cpu/conv.h"
#include "cpu/isa.h"

namespace fb::cpu {

enum class ConvPass : int64_t { kForward, kBackwardData, kBackwardWeight };

#if defined(FB_HAVE_ONEDNN)
// Whether oneDNN takes a convolution of these types and sizes at all.
bool conv_onednn_takes(const ConvShape& shape, DType dtype);
void conv_forward_onednn(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                         const Tensor& bias, const Tensor& out);
void conv_backward_data_onednn(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                               const Tensor& bias, const Tensor& in);
void conv_backward_weight_onednn(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                 const Tensor& weight);
#endif

// As matrix products: every window of the image becomes a row of a matrix ("columns"), in blocks
// that fit the caches. The weight lies channels last.
void conv_forward_columns(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                          const Tensor& bias, const Tensor& out);
void conv_backward_data_columns(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                                const Tensor& bias, const Tensor& in);
void conv_backward_weight_columns(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                  const Tensor& weight);

// Lines [first, last) of windows of one image, one line for each row of pixels of `out`, and a
// group's channels in them. The row of a window has window() * group_in() elements.
struct ConvBlock {
  int64_t sample, group, first, last;
};

// Copies windows of the image into rows of columns; outside of the image there are zeros.
FB_DECLARE_KERNEL(void, gather_columns, const ConvShape& shape, const ConvBlock& block, DType dtype,
                  const void* image, void* columns)
// Adds rows of columns to the windows of the image that they stand for.
FB_DECLARE_KERNEL(void, scatter_columns, const ConvShape& shape, const ConvBlock& block,
                  DType dtype, const void* columns, void* image)
// to[i] += from[i]
FB_DECLARE_KERNEL(void, add_elements, DType dtype, int64_t n, const void* from, void* to)

}  // namespace fb::cpu
