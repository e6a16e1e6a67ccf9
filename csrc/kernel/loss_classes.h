// Losses of scores for classes: scores are contiguous (outer, classes, inner), and each of the
// outer * inner samples has a class number as its target.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct ClassTargets {
  DType dtype;   // of weights, statistics and losses: float32 or float64
  DType scores;  // of scores and their gradients: the same, or on cuda a 16-bit type
  int64_t outer, classes, inner;
  const int64_t* targets;
  const void* weights;  // one for each class, or null
  int64_t ignored;      // samples with this target do not count

  int64_t samples() const { return outer * inner; }
};

// Where the losses of samples go: each by itself, or a single number.
struct ClassLosses {
  void* each;    // the loss of every sample, its weight included, or null
  void* total;   // their sum, or null
  bool mean;     // whether the sum is divided by the weight
  void* weight;  // the weight of the samples that count: one element
};

// The incoming gradients of a loss: one for each sample, or a single one.
struct SampleGradients {
  const void* values;
  bool single;
  double scale;
  const void* divisor = nullptr;  // an element by which the scale is divided, or null
};

// Rows of scores, and of target probabilities of the classes.
struct SoftTargets {
  DType dtype;  // of all arrays: float32 or float64
  int64_t rows, classes;
  const void* scores;
  const void* soft_targets;
  const void* weights;  // one for each class, or null
  double smoothing;
};

struct LossClasses {
  // The logarithm of a sample's softmax is (score - statistics[i]) - statistics[samples + i]: the
  // largest score is kept separate from the rest of the normaliser, so that no digits are lost.
  Slot<void(const ClassTargets& t, const void* scores, void* statistics)> score_statistics;
  // out[i] = the sum of -weight * log softmax over all classes of sample i.
  Slot<void(const ClassTargets& t, const void* scores, const void* statistics, void* out)>
      all_class_losses;
  // The losses of samples. With statistics, of the logarithm of softmax; without, of the scores
  // themselves. `all_classes` is the result of all_class_losses, mixed in by `smoothing`, or null.
  // IndexError for a target that is not a class.
  Slot<void(const ClassTargets& t, const void* scores, const void* statistics, double smoothing,
            const void* all_classes, const ClassLosses& out)>
      class_losses;
  // score_statistics and class_losses without smoothing, in one pass over the scores.
  Slot<void(const ClassTargets& t, const void* scores, void* statistics, const ClassLosses& out)>
      cross_entropy_losses;
  // The gradient of cross entropy with respect to the scores.
  Slot<void(const ClassTargets& t, const void* scores, const void* statistics, double smoothing,
            const SampleGradients& gradients, void* out)>
      cross_entropy_gradient;
  // The gradient of the negative log-likelihood with respect to the scores.
  Slot<void(const ClassTargets& t, const SampleGradients& gradients, void* out)> nll_gradient;

  // losses[i] = -the sum of soft targets * log softmax of row i; statistics (3, rows): the two for
  // the logarithm of softmax, as above, and the sum of the soft targets.
  Slot<void(const SoftTargets& call, void* statistics, void* losses)> soft_target_losses;
  // The gradient with respect to the scores, or to the soft targets.
  Slot<void(const SoftTargets& call, const void* statistics, const SampleGradients& gradients,
            bool by_targets, void* out)>
      soft_target_gradient;

  // out[i][numbers[i]] = 1 for n rows of `classes` elements. An error for a number that is no
  // class.
  Slot<void(const int64_t* numbers, int64_t n, int64_t classes, int64_t* out)> mark_classes;
};

}  // namespace fb::kernel
