// The implementations that convolutions choose from.
#pragma once

#include "cpu/conv.h"
#include "cpu/isa.h"

namespace fb::cpu {

enum class ConvPass : int64_t { kForward, kBackwardData, kBackwardWeight };

// The weight itself if it is contiguous or channels last, as asked for, else a copy.
Tensor dense_weight(const Tensor& weight, bool channels_last);

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

// By Winograd's minimal filtering; the weight is contiguous. An infinite pixel turns a whole tile
// of 4 x 4 pixels into NaN.
bool conv_winograd_takes(ConvPass pass, const ConvShape& shape, DType dtype);
void conv_forward_winograd(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                           const Tensor& bias, const Tensor& out);
void conv_backward_data_winograd(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                                 const Tensor& bias, const Tensor& in);
void conv_backward_weight_winograd(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                   const Tensor& weight);

// As matrix products: every window of the image becomes a row of a matrix ("columns"), in blocks
// that fit the caches. The weight lies channels last.
void conv_forward_columns(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                          const Tensor& bias, const Tensor& out);
void conv_backward_data_columns(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                                const Tensor& bias, const Tensor& in);
void conv_backward_weight_columns(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                  const Tensor& weight);

// The same from the windows of all images at once, as one product: for few pixels of many channels.
bool conv_gathered_takes(ConvPass pass, const ConvShape& shape, DType dtype);
void conv_forward_gathered(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                           const Tensor& bias, const Tensor& out);
void conv_backward_weight_gathered(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                   const Tensor& weight);

// Kernels of one element over planes.
void conv_pointwise(const ConvShape& shape, const Tensor& in, const Tensor& weight,
                    const Tensor& bias, const Tensor& out);
void conv_pointwise_data(const ConvShape& shape, const Tensor& out, const Tensor& weight,
                         const Tensor& bias, const Tensor& in);
void conv_pointwise_weight(const ConvShape& shape, const Tensor& in, const Tensor& out,
                           const Tensor& weight);

// The gradient of a weight with kernels of one element, as one product of matrices.
bool conv_pixels_takes(const ConvShape& shape, DType dtype);
void conv_backward_weight_pixels(const ConvShape& shape, const Tensor& in, const Tensor& out,
                                 const Tensor& weight);

inline constexpr int64_t kWinogradTile = 4;     // pixels of the result in a tile, along each side
inline constexpr int64_t kWinogradPoints = 36;  // products of a tile

// Channels are multiples of a vector.
struct WinogradCall {
  int64_t in_channels, out_channels;
  int64_t height, width, out_height, out_width, padding_y, padding_x;
  int64_t down, across;  // tiles of an image
  const float* in;
  const float* bias;  // or null
  float* out;
  float* weight;  // at all points: matrices of (in_channels, out_channels)
};
// 3 x 3 kernels in memory: elements between two channels.
struct WinogradTaps {
  const float* data;
  int64_t in_stride, out_stride;
  bool flipped;
};
// Kernels of the input channels [first, last).
FB_DECLARE_KERNEL(void, winograd_weight, const WinogradCall& call, const WinogradTaps& taps,
                  int64_t first, int64_t last)

// Tiles from `first` on, of both images at all points: matrices of (tiles, channels).
struct WinogradBlock {
  int64_t first, tiles;
  float* in;
  float* out;
};
// All of a block, which one thread computes,
FB_DECLARE_KERNEL(void, winograd_tiles, const WinogradCall& call, const WinogradBlock& block)
// or its parts, one after the other: tiles [first, last) of the image, the products at a point for
// the output channels [first, last), and tiles [first, last) of the result.
FB_DECLARE_KERNEL(void, winograd_transform, const WinogradCall& call, const WinogradBlock& block,
                  int64_t first, int64_t last)
FB_DECLARE_KERNEL(void, winograd_product, const WinogradCall& call, const WinogradBlock& block,
                  int64_t point, int64_t first, int64_t last)
FB_DECLARE_KERNEL(void, winograd_restore, const WinogradCall& call, const WinogradBlock& block,
                  int64_t first, int64_t last)

// Transforms tiles [first, last) of a block, of both images.
FB_DECLARE_KERNEL(void, winograd_both, const WinogradCall& call, const WinogradBlock& block,
                  int64_t first, int64_t last)
// Adds a block's share of the weight's gradient at one point, for the output channels
// [first, last); the first block starts the sum.
FB_DECLARE_KERNEL(void, winograd_weight_product, const WinogradCall& call,
                  const WinogradBlock& block, int64_t point, int64_t first, int64_t last)
// The gradient itself, for the input channels [first, last).
FB_DECLARE_KERNEL(void, winograd_restore_weight, const WinogradCall& call, int64_t first,
                  int64_t last, float* weight)

// Lines [first, last) of windows of one image, one line for each row of pixels of `out`, and a
// group's channels in them. The row of a window has window() * group_in() elements.
struct ConvBlock {
  int64_t sample, group, first, last;
};

// Copies windows of the image into rows of columns; outside of the image there are zeros.
FB_DECLARE_KERNEL(void, gather_columns, const ConvShape& shape, const ConvBlock& block, DType dtype,
                  const void* image, void* columns)
// Adds rows of columns to their windows of the image.
FB_DECLARE_KERNEL(void, scatter_columns, const ConvShape& shape, const ConvBlock& block,
                  DType dtype, const void* columns, void* image)
// to[i] += from[i]
FB_DECLARE_KERNEL(void, add_elements, DType dtype, int64_t n, const void* from, void* to)

}  // namespace fb::cpu
