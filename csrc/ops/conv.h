// What convolutions share with their derivatives.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// The image with the channels of a pixel as neighbours: itself where they are already.
Tensor channels_last(const Tensor& image);

}  // namespace fb::ops
