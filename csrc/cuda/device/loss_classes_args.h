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
  double* partial;  // two sums of each segment of samples; null: a single block has all samples
  double* joined;   // where those of many segments go; null: to the results
  long long segment_length, segments;
  // Gradients.
  const void* gradients;
  const void* divisor;
  double scale;
  bool single;
  void* out;
  ErrorSite error;
  // A block has `lanes` threads for each of its samples.
  int lanes;
};

// As kernel::SoftTargets.
struct SoftTargetArguments {
  long long rows, classes;
  const void* scores;
  const void* soft_targets;
  const void* weights;
  double smoothing;
  void* statistics;
  void* losses;
  const void* gradients;
  double scale;
  bool single, by_targets;
  void* out;
  int lanes;
};

struct MarkArguments {
  const long long* numbers;
  long long n, classes;
  long long* out;
  ErrorSite error;
};

}  // namespace fb::device
