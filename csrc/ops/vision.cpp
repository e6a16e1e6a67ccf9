// Boxes on images: which of many to keep.
#include "gen/ops/vision.h"

#include "kernel/table.h"
#include "ops/vision_regions.h"

namespace fb::ops {

Tensor compute::_nms(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  FB_CHECK(boxes.dim() == 2 && boxes.sizes()[1] == 4, "boxes must have shape (count, 4), got ",
           boxes.sizes());
  FB_CHECK(scores.dim() == 1 && scores.sizes()[0] == boxes.sizes()[0],
           "scores must have one element for each of the ", boxes.sizes()[0], " boxes, got shape ",
           scores.sizes());
  const DType dtype = working_type(boxes.dtype());
  const Tensor corners = contiguous(cast(boxes, dtype)), ranks = contiguous(cast(scores, dtype));
  return kernel::of(corners).kept_boxes(corners, ranks, iou_threshold);
}

}  // namespace fb::ops
