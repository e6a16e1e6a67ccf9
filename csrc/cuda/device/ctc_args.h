// What the kernels of csrc/cuda/ctc.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// How many sequences a launch takes: their numbers lie in its argument.
inline constexpr int kCtcSequences = 128;

// As kernel::CtcCall, of the sequences from `first` on.
struct CtcArguments {
  long long steps, batch, classes, states, blank;
  const void* log_probs;
  const long long* targets;
  void* log_alpha;
  void* log_beta;  // of the backward: (batch, steps, states)
  int* links;      // of the backward: (batch, states - 1), two for each label, see ctc_beta
  void* losses;
  const void* gradients;
  void* out;
  ErrorSite error;
  bool zero_infinity;
  int first, count;
  long long starts[kCtcSequences], target_lengths[kCtcSequences], input_lengths[kCtcSequences];
};

}  // namespace fb::device
