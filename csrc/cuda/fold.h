// Windows of images as columns, and back.
#pragma once

#include "cuda/slots.h"
#include "kernel/fold.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Fold, unfold_planes)
FB_DECLARE_CUDA(kernel::Fold, fold_planes)

}  // namespace fb::cuda
