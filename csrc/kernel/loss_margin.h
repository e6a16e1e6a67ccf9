// Margins between the scores of classes, sample by sample. Scores are contiguous (samples, classes)
// of float32 or float64.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct MarginCall {
  DType dtype;
  int64_t samples, classes;
  const void* scores;
  const int64_t* targets;  // a class for each sample, or `classes` numbers that end at -1
  bool many;               // whether `targets` has the latter form
  bool squared = false;
  double margin = 1;
  const void* weights = nullptr;  // one for each class, or null
};

struct LossMargin {
  // The loss of each sample. An error for a target that is no class.
  Slot<void(const MarginCall& call, void* out)> margin_losses;
  // Its gradient with respect to the scores times that of the sample; `gradients` has one for all
  // or one each.
  Slot<void(const MarginCall& call, const void* gradients, bool single, double scale, void* out)>
      margin_gradient;
};

}  // namespace fb::kernel
