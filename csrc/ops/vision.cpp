// Boxes on images: which of many to keep.
#include "gen/ops/vision.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/output.h"
#include "ops/vision_regions.h"

namespace fb::ops {
namespace {

template <class T>
class Boxes {
 public:
  Boxes(const T* corners, int64_t count) : corners_(corners), areas_(static_cast<size_t>(count)) {
    for (int64_t i = 0; i < count; ++i) {
      const T* box = corners + 4 * i;
      areas_[static_cast<size_t>(i)] = (box[2] - box[0]) * (box[3] - box[1]);
    }
  }

  bool overlap(int64_t i, int64_t j, T threshold) const {
    const T *a = corners_ + 4 * i, *b = corners_ + 4 * j;
    const T wide = std::max(T{0}, std::min(a[2], b[2]) - std::max(a[0], b[0]));
    const T high = std::max(T{0}, std::min(a[3], b[3]) - std::max(a[1], b[1]));
    const T both = wide * high;
    return both / (areas_[static_cast<size_t>(i)] + areas_[static_cast<size_t>(j)] - both) >
           threshold;
  }

 private:
  const T* corners_;
  std::vector<T> areas_;
};

template <class T>
std::vector<int64_t> kept_boxes(const T* corners, const T* scores, int64_t count, double limit) {
  std::vector<int64_t> order(static_cast<size_t>(count)), kept;
  std::iota(order.begin(), order.end(), 0);
  // NaN counts as more than any number, as it does when tensors are sorted.
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return scores[i] > scores[j] || (std::isnan(scores[i]) && !std::isnan(scores[j]));
  });
  const Boxes<T> boxes(corners, count);
  for (const int64_t candidate : order) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t better) {
      return boxes.overlap(better, candidate, static_cast<T>(limit));
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace

Tensor compute::_nms(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  FB_CHECK(boxes.dim() == 2 && boxes.sizes()[1] == 4, "boxes must have shape (count, 4), got ",
           boxes.sizes());
  FB_CHECK(scores.dim() == 1 && scores.sizes()[0] == boxes.sizes()[0],
           "scores must have one element for each of the ", boxes.sizes()[0], " boxes, got shape ",
           scores.sizes());
  const DType dtype = working_type(boxes.dtype());
  const Tensor corners = contiguous(cast(boxes, dtype)), ranks = contiguous(cast(scores, dtype));
  std::vector<int64_t> kept;
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kept = kept_boxes(corners.data_as<T>(), ranks.data_as<T>(), boxes.sizes()[0], iou_threshold);
  });
  const Tensor result = make_tensor({static_cast<int64_t>(kept.size())}, DType::kInt64);
  std::copy(kept.begin(), kept.end(), result.data_as<int64_t>());
  return result;
}

}  // namespace fb::ops
