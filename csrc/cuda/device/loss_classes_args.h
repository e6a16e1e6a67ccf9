// What the kernels of csrc/cuda/loss_classes.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// As kernel::ClassTargets, and what the single kernels want besides.
struct ClassArguments {
  long long outer, classes, inner;
  const long long* targets;
  const void* weights;
  long long ignored;
  const void* scores;
  void* statistics;  // of the logarithm of softmax; null: scores are logarithms themselves
  double smoothing;
  // Losses.
  const void* all_classes;
  void* each;
  void* total;
  void* weight;
  bool mean;
  // Gradients.
  const void* gradients;
  const void* divisor;
  double scale;
  bool single;
  void* out;
  ErrorRecord* error;
};

}  // namespace fb::device
