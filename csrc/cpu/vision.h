// Boxes on images, and regions of images.
#pragma once

#include <algorithm>

#include "core/error.h"
#include "cpu/isa.h"
#include "kernel/vision.h"

namespace fb::cpu {

using kernel::AlignPlan;
using kernel::DeformGradients;
using kernel::DeformImage;
using kernel::DeformPlan;
using kernel::ImageBatch;
using kernel::RegionPlan;

FB_DECLARE_SLOT(kernel::Vision, kept_boxes)
FB_DECLARE_SLOT(kernel::Vision, rotated_overlaps)
FB_DECLARE_SLOT(kernel::Vision, roi_align)
FB_DECLARE_SLOT(kernel::Vision, roi_align_backward)
FB_DECLARE_SLOT(kernel::Vision, roi_pool_argmax)
FB_DECLARE_SLOT(kernel::Vision, ps_roi_pool)
FB_DECLARE_SLOT(kernel::Vision, ps_roi_pool_backward)
FB_DECLARE_SLOT(kernel::Vision, deform_columns)
FB_DECLARE_SLOT(kernel::Vision, deform_columns_backward)

template <class T>
int64_t image_of(const T* region, const ImageBatch& images) {
  // Compared before it is cast: NaN and what no integer holds are refused too.
  FB_CHECK_INDEX(region[0] > -1 && region[0] < static_cast<T>(images.batch), "rois name image ",
                 region[0], " of a batch of ", images.batch);
  return static_cast<int64_t>(region[0]);
}

}  // namespace fb::cpu
