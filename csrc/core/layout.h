// The memory order of images.
//
// Note [Deferred layouts]: convolutions, pooling and normalisation are fastest where the channels
// of a pixel are neighbours ("channels last"), but programs expect results in the order of their
// dimensions: they call view() on them and look at strides. So the order of a
// convolution's result is deferred: `deferred_layout` is set, its strides say channels last, and
// every kernel works on it as on any strided tensor. Results that are laid out like such an input
// (make_like, make_image, pointwise operators) are deferred too, so images travel through a network
// without a change of order.
// The first access that depends on the order (stride(), data_ptr(), a view, an index, NumPy)
// reorders the elements by dimensions, once: see ops::settle.
//
// A tensor with a deferred layout is not a view and has no views: making one settles it first.
// Other handles on its storage that users do not see (what nodes have saved) keep the old order and
// the old memory.
#pragma once

#include "core/tensor.h"

namespace fb {

// Strides with adjacent channels (dimension 1), for any number of spatial dimensions.
Dims channels_last_strides(IntSpan sizes);
// Whether channels are adjacent, and the other dimensions dense in their order.
bool is_channels_last(const Tensor& t);

// A new image of samples, channels and spatial dimensions, channels last, in a deferred layout.
Tensor make_deferred_image(IntSpan sizes, DType dtype, Device device);
// A new image laid out like `like`, which has as many dimensions: channels last or deferred if
// `like` is, contiguous otherwise.
Tensor make_image(IntSpan sizes, DType dtype, const Tensor& like);

}  // namespace fb
