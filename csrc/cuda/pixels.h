// Images of bytes: resizing and lookup tables.
#pragma once

#include "cuda/slots.h"
#include "kernel/pixels.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Pixels, resize_bytes)
FB_DECLARE_CUDA(kernel::Pixels, map_bytes)

}  // namespace fb::cuda
