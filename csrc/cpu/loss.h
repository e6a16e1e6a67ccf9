// Losses that are a function of each element, and how they are summed and differentiated.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// See scalar/loss.h for what each computes of its operands.
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
  const void* operands[3] = {};  // the third is null where the loss has two
  double params[2] = {};
};

FB_DECLARE_KERNEL(void, loss_elements, const LossCall& call, void* out)
FB_DECLARE_KERNEL(double, loss_sum, const LossCall& call)
// out = gradient * scale * derivative by `operand`; `gradient` is one for each element, or a single
// one.
FB_DECLARE_KERNEL(void, loss_gradient, const LossCall& call, int operand, const void* gradient,
                  bool single, double scale, void* out)

}  // namespace fb::cpu
