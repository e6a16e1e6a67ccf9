// What the kernels of csrc/cuda/loss_margin.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// As kernel::MarginCall.
struct MarginArguments {
  long long samples, classes;
  const void* scores;
  const long long* targets;
  double margin;
  const void* weights;
  unsigned char* marks;  // (samples, classes) of zeros, where a sample has many targets
  const void* gradients;
  double scale;
  bool single;
  void* out;
  int lanes;
  ErrorSite error;
};

}  // namespace fb::device
