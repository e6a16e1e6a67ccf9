// Overlaps of rotated boxes.
#include "gen/ops/vision.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

void check_boxes(const Tensor& boxes, const char* name) {
  FB_CHECK(boxes.dim() == 2 && boxes.size(1) == 5, name, " must have shape (count, 5), got ",
           boxes.sizes());
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(boxes.dtype()), name,
              " must be a floating-point tensor, got ", boxes.dtype());
}

}  // namespace

Tensor compute::_box_iou_rotated(const Tensor& boxes1, const Tensor& boxes2) {
  check_boxes(boxes1, "boxes1");
  check_boxes(boxes2, "boxes2");
  const Tensor first = contiguous(cast(boxes1, DType::kFloat64));
  const Tensor second = contiguous(cast(boxes2, DType::kFloat64));
  const int64_t rows = boxes1.size(0), columns = boxes2.size(0);
  const Tensor out = make_tensor({rows, columns}, DType::kFloat32, boxes1.device());
  kernel::of(out).rotated_overlaps(first.data_as<double>(), rows, second.data_as<double>(), columns,
                                   out.data_as<float>());
  return out;
}

}  // namespace fb::ops
