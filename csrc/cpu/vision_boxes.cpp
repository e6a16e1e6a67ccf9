// Which of many boxes to keep.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/vision.h"

namespace fb::cpu {
namespace {

// The boxes that are kept, as arrays: a candidate is compared with several at a time.
template <class T>
class Kept {
 public:
  void add(const T* box) {
    for (size_t side = 0; side < 4; ++side) sides_[side].push_back(box[side]);
    areas_.push_back(area(box));
  }

  // Whether one of them overlaps a box by more than the threshold.
  bool cover(const T* box, T threshold) const {
    constexpr size_t kAtOnce = 16;
    size_t i = 0;
    for (; i + kAtOnce <= areas_.size(); i += kAtOnce)
      if (count(box, threshold, i, kAtOnce) > 0) return true;
    return count(box, threshold, i, areas_.size() - i) > 0;
  }

 private:
  static T area(const T* box) { return (box[2] - box[0]) * (box[3] - box[1]); }

  int count(const T* box, T threshold, size_t first, size_t number) const {
    const T *left = sides_[0].data() + first, *top = sides_[1].data() + first;
    const T *right = sides_[2].data() + first, *bottom = sides_[3].data() + first;
    const T *areas = areas_.data() + first, own = area(box);
    int found = 0;
    for (size_t i = 0; i < number; ++i) {
      const T wide = std::max(T{0}, std::min(right[i], box[2]) - std::max(left[i], box[0]));
      const T high = std::max(T{0}, std::min(bottom[i], box[3]) - std::max(top[i], box[1]));
      const T both = wide * high;
      found += both / (areas[i] + own - both) > threshold;
    }
    return found;
  }

  std::vector<T> sides_[4], areas_;
};

template <class T>
std::vector<int64_t> best_boxes(const T* corners, const T* scores, int64_t count, double limit) {
  std::vector<int64_t> order(static_cast<size_t>(count)), kept;
  std::iota(order.begin(), order.end(), 0);
  // NaN counts as more than any number, as it does when tensors are sorted.
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return scores[i] > scores[j] || (std::isnan(scores[i]) && !std::isnan(scores[j]));
  });
  Kept<T> better;
  for (const int64_t candidate : order) {
    const T* box = corners + 4 * candidate;
    if (better.cover(box, static_cast<T>(limit))) continue;
    better.add(box);
    kept.push_back(candidate);
  }
  return kept;
}

}  // namespace

Tensor kept_boxes(const Tensor& boxes, const Tensor& scores, double limit) {
  std::vector<int64_t> kept;
  visit_floating(boxes.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kept = best_boxes(boxes.data_as<T>(), scores.data_as<T>(), boxes.sizes()[0], limit);
  });
  Tensor result = make_tensor({static_cast<int64_t>(kept.size())}, DType::kInt64, boxes.device());
  std::copy(kept.begin(), kept.end(), result.data_as<int64_t>());
  return result;
}

}  // namespace fb::cpu
