// Losses of scores for classes: scores are contiguous (outer, classes, inner), and each of the
// outer * inner samples has a class number as its target.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

struct ClassTargets {
  DType dtype;  // of scores and weights: float32 or float64
  int64_t outer, classes, inner;
  const int64_t* targets;
  const void* weights;  // one for each class, or null
  int64_t ignored;      // samples with this target do not count

  int64_t samples() const { return outer * inner; }
};

// What comes back to a loss: one gradient for each sample, or a single one.
struct SampleGradients {
  const void* values;
  bool single;
  double scale;
};

// The logarithm of a sample's softmax is (score - statistics[i]) - statistics[samples + i]: the
// largest score is kept apart from the rest of the normaliser, so that no digit is lost.
FB_DECLARE_KERNEL(void, score_statistics, const ClassTargets& t, const void* scores,
                  void* statistics)
// out[i] = the sum of -weight * log softmax over all classes of sample i.
FB_DECLARE_KERNEL(void, all_class_losses, const ClassTargets& t, const void* scores,
                  const void* statistics, void* out)
// The gradient of cross entropy by the scores.
FB_DECLARE_KERNEL(void, cross_entropy_gradient, const ClassTargets& t, const void* scores,
                  const void* statistics, double smoothing, const SampleGradients& gradients,
                  void* out)

struct ClassLoss {
  double sum = 0;
  double weight = 0;  // of the samples that count
};

// The loss of each sample, its weight included, into `each` unless that is null, and the sum. With
// statistics, of the logarithm of softmax; without, of the scores themselves. `all_classes` has
// what all_class_losses gives, mixed in by `smoothing`; null without. Throws IndexError for a
// target that is no class.
ClassLoss class_losses(const ClassTargets& t, const void* scores, const void* statistics,
                       double smoothing, const void* all_classes, void* each);
// The gradient of the negative log-likelihood by the scores.
void nll_gradient(const ClassTargets& t, const SampleGradients& gradients, void* out);

// Rows of scores, and of what share each class has in the target.
struct ClassShares {
  DType dtype;  // of all: float32 or float64
  int64_t rows, classes;
  const void* scores;
  const void* shares;
  const void* weights;  // one for each class, or null
  double smoothing;
};

// losses[i] = -the sum of shares * log softmax of row i; statistics (3, rows): what the logarithm
// of softmax is made of, as above, and the sum of the shares.
FB_DECLARE_KERNEL(void, share_losses, const ClassShares& call, void* statistics, void* losses)
// The gradient by the scores, or by the shares.
FB_DECLARE_KERNEL(void, share_gradient, const ClassShares& call, const void* statistics,
                  const SampleGradients& gradients, bool by_shares, void* out)

}  // namespace fb::cpu
