// Images as encoders take them.
#pragma once

#include "core/tensor.h"

namespace fb::image {

// The pixels (height, width, channels), one after the other, of an image (channels, height, width)
// of bytes: 1 or 3 channels, or 1 to 4 where the last may be opacity. Refuses others.
Tensor interleaved(const Tensor& image, bool with_opacity);

}  // namespace fb::image
