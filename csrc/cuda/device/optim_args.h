// What the kernels of optimisers are given: some tensors at once, cut into pieces of which a block
// takes one.
#pragma once

namespace fb::device {

inline constexpr int kOptimTensors = 32;
inline constexpr long long kOptimPiece = 4096;  // elements

struct OptimTensors {
  int count;
  long long pieces_before[kOptimTensors + 1];
  long long n[kOptimTensors];
  void* param[kOptimTensors];
  const void* grad[kOptimTensors];
  void* states[3][kOptimTensors];
};

struct SgdArguments {
  OptimTensors tensors;
  double weight_decay, momentum, dampened, lr;
  bool maximize, nesterov, first;
};

struct AdamArguments {
  OptimTensors tensors;
  double weight_decay, shrink, beta1, beta2, eps, step_size, correction;
  bool maximize, largest;
};

}  // namespace fb::device
