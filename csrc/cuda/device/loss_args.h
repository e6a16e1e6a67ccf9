// What the kernels of csrc/cuda/loss.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// As kernel::LossCall, and what the single kernels want besides.
struct LossArguments {
  const void* operands[3];
  double params[2];
  long long n;
  void* out;
  // Sums: each block has a segment.
  long long segment_length;
  double* partial;  // null: a single block writes the result
  double divisor;
  // Gradients.
  const void* gradient;
  double scale;
  bool single;
  ErrorSite error;
};

}  // namespace fb::device
