// Losses that are a function of each element, and how they are summed and differentiated.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// scalar/loss.h defines them.
enum class LossKind : uint8_t {
  kSquared,
  kAbsolute,
  kSmoothAbsolute,
  kHuber,
  kBinary,
  kBinaryLogits,
  kWeightedLogits,
  kDivergence,
  kLogDivergence,
  kPoisson,
  kLogPoisson,
  kGaussian,
  kHingeEmbedding,
  kRanking,
  kSoftMargin,
};

// `n` contiguous elements of every operand, all of float32 or all of float64.
struct LossCall {
  LossKind kind;
  DType dtype;
  int64_t n;
  const void* operands[3] = {};  // the third is null if the loss has two
  double params[2] = {};
};

struct Loss {
  Slot<void(const LossCall& call, void* out)> loss_elements;
  // The single element of `out` is the sum of all losses, divided by `divisor`.
  Slot<void(const LossCall& call, double divisor, void* out)> loss_sum;
  // out = gradient * scale * derivative by `operand`; `gradient` is one for each element, or a
  // single one.
  Slot<void(const LossCall& call, int operand, const void* gradient, bool single, double scale,
            void* out)>
      loss_gradient;
  // The same for losses that exist already: n contiguous ones, float32 or float64, summed in
  // float64 in their order.
  Slot<void(DType dtype, const void* losses, int64_t n, double divisor, void* out)> sum_losses;
  // Raises if one of n results of loss_elements or loss_sum is NaN because of an operand that the
  // loss is not defined for: no probability, or a negative variance. A device may note such an
  // operand when it computes with it, and raise later.
  Slot<void(const LossCall& call, const void* losses, int64_t n)> check_losses;
};

}  // namespace fb::kernel
