// Losses of class scores that are picked by class number.
#include "cpu/loss_classes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/loss.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Where the scores of samples begin, one after the other.
class ScoreWalk {
 public:
  ScoreWalk(const ClassTargets& t, int64_t sample)
      : inner_(t.inner),
        plane_(t.classes * t.inner),
        outer_(t.inner == 0 ? 0 : sample / t.inner),
        column_(sample - outer_ * t.inner) {}

  int64_t at(int64_t target) const { return outer_ * plane_ + target * inner_ + column_; }
  void next() {
    if (++column_ < inner_) return;
    column_ = 0;
    ++outer_;
  }

 private:
  const int64_t inner_, plane_;
  int64_t outer_, column_;
};

struct ClassLoss {
  double sum = 0;
  double weight = 0;  // of the samples that count
};

// Sums are taken chunk by chunk, so that they do not depend on the number of threads.
constexpr int64_t kSampleChunk = 2048;

template <class T>
ClassLoss losses_in(const ClassTargets& t, const T* scores, const T* statistics, double smoothing,
                    const T* all_classes, T* each, int64_t begin, int64_t end) {
  const T* const weights = static_cast<const T*>(t.weights);
  const T picked_share = static_cast<T>(1 - smoothing);
  const T spread_share = static_cast<T>(smoothing / static_cast<double>(t.classes));
  ClassLoss total;
  ScoreWalk walk(t, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    const int64_t target = t.targets[i];
    if (target == t.ignored) {
      if (each) each[i] = 0;
      continue;
    }
    FB_CHECK_INDEX(target >= 0 && target < t.classes, "Target ", target,
                   " is out of bounds. There are ", t.classes, " classes, from 0 on");
    const T weight = weights ? weights[target] : T(1);
    const T score = scores[walk.at(target)];
    T loss = statistics ? statistics[t.samples() + i] - (score - statistics[i]) : -score;
    loss *= weight;
    if (all_classes) loss = loss * picked_share + all_classes[i] * spread_share;
    if (each) each[i] = loss;
    total.sum += static_cast<double>(loss);
    total.weight += static_cast<double>(weight);
  }
  return total;
}

template <class T>
ClassLoss losses(const ClassTargets& t, const void* scores, const void* statistics,
                 double smoothing, const void* all_classes, void* each) {
  const auto part = [&](int64_t begin, int64_t end) {
    return losses_in(t, static_cast<const T*>(scores), static_cast<const T*>(statistics), smoothing,
                     static_cast<const T*>(all_classes), static_cast<T*>(each), begin, end);
  };
  const int64_t samples = t.samples();
  if (samples <= kSampleChunk) return part(0, samples);
  const int64_t chunks = (samples + kSampleChunk - 1) / kSampleChunk;
  std::vector<ClassLoss> parts(static_cast<size_t>(chunks));
  parallel_for(chunks, 2, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      parts[static_cast<size_t>(c)] =
          part(c * kSampleChunk, std::min(samples, (c + 1) * kSampleChunk));
  });
  ClassLoss total;
  for (const ClassLoss& each_part : parts) {
    total.sum += each_part.sum;
    total.weight += each_part.weight;
  }
  return total;
}

template <class T>
void nll_gradient_of(const ClassTargets& t, const SampleGradients& gradients, T* out) {
  const T* const weights = static_cast<const T*>(t.weights);
  const T* const given = static_cast<const T*>(gradients.values);
  const T scale = static_cast<T>(scale_of<T>(gradients));
  const int64_t plane = t.classes * t.inner;
  parallel_for(t.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plane)),
               [&](int64_t begin, int64_t end) {
                 std::memset(out + begin * plane, 0,
                             static_cast<size_t>((end - begin) * plane) * sizeof(T));
                 ScoreWalk walk(t, begin * t.inner);
                 for (int64_t i = begin * t.inner; i < end * t.inner; ++i, walk.next()) {
                   const int64_t target = t.targets[i];
                   if (target == t.ignored) continue;
                   const T weight = weights ? weights[target] : T(1);
                   out[walk.at(target)] = -given[gradients.single ? 0 : i] * scale * weight;
                 }
               });
}

}  // namespace

void class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                  double smoothing, const void* all_classes, const ClassLosses& out) {
  const auto [sum, weight] =
      (t.dtype == DType::kFloat32 ? losses<float> : losses<double>)(t, scores, statistics,
                                                                    smoothing, all_classes,
                                                                    out.each);
  if (out.total) put_number(t.dtype, out.mean ? sum / weight : sum, out.total);
  put_number(t.dtype, weight, out.weight);
}

void cross_entropy_losses(const ClassTargets& t, const void* scores, void* statistics,
                          const ClassLosses& out) {
  FB_KERNEL(score_statistics)(t, scores, statistics);
  class_losses(t, scores, statistics, 0, nullptr, out);
}

void nll_gradient(const ClassTargets& t, const SampleGradients& gradients, void* out) {
  if (t.dtype == DType::kFloat32) return nll_gradient_of(t, gradients, static_cast<float*>(out));
  nll_gradient_of(t, gradients, static_cast<double*>(out));
}

void mark_classes(const int64_t* numbers, int64_t n, int64_t classes, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = numbers[i];
    FB_CHECK(number >= 0, "Class values must be non-negative, got ", number);
    FB_CHECK(number < classes, "Class values must be smaller than num_classes, got ", number,
             " of ", classes);
    out[i * classes + number] = 1;
  }
}

}  // namespace fb::cpu
