// The order in which the elements of images lie in memory.
//
// Note [Layout of our own]: convolutions, pooling and normalisation are fastest where the channels
// of a pixel are neighbours ("channels last"), but programs expect results in the order of their
// dimensions: they call view() on them and look at strides. So the result of a convolution has a
// layout of our own: `free_layout` is set, its strides say channels last, and every kernel works on
// it as on any strided tensor. Results that are laid out like such an input (make_like, make_image,
// pointwise operators) are free too, so images travel through a network without a change of order.
// The first who looks (stride(), data_ptr(), a view, an index, NumPy) has the elements put in the
// order of the dimensions, once: see ops::settle.
//
// A free tensor is nobody's view and has no views: whoever makes one settles it. Other handles on
// its storage that are not seen by users (what nodes have saved) keep the old order and the old
// memory.
#pragma once

#include "core/tensor.h"

namespace fb {

// Strides in which channels (dimension 1) are neighbours, for any number of spatial dimensions.
Dims channels_last_strides(IntSpan sizes);
// Whether channels are neighbours, and the other dimensions dense in their order.
bool is_channels_last(const Tensor& t);

// A new image of samples, channels and spatial dimensions, channels last, in a layout of our own.
Tensor make_free_image(IntSpan sizes, DType dtype, Device device);
// A new image laid out like `like`, which has as many dimensions: channels last where that is, free
// where that is, contiguous otherwise.
Tensor make_image(IntSpan sizes, DType dtype, const Tensor& like);

}  // namespace fb
