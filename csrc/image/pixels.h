// Images as encoders take them.
#pragma once

#include "core/tensor.h"

namespace fb::image {

// The pixels (height, width, channels), one after the other, of an image (1 or 3, height, width) of
// bytes. Refuses others.
Tensor interleaved(const Tensor& image);

}  // namespace fb::image
