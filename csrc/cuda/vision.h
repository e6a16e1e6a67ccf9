// Boxes on images, and regions of images.
#pragma once

#include "cuda/slots.h"
#include "kernel/vision.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Vision, kept_boxes)
FB_DECLARE_CUDA(kernel::Vision, rotated_overlaps)
FB_DECLARE_CUDA(kernel::Vision, roi_align)
FB_DECLARE_CUDA(kernel::Vision, roi_align_backward)
FB_DECLARE_CUDA(kernel::Vision, roi_pool_argmax)
FB_DECLARE_CUDA(kernel::Vision, ps_roi_pool)
FB_DECLARE_CUDA(kernel::Vision, ps_roi_pool_backward)
FB_DECLARE_CUDA(kernel::Vision, deform_columns)
FB_DECLARE_CUDA(kernel::Vision, deform_columns_backward)

}  // namespace fb::cuda
