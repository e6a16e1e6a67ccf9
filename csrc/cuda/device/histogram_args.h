// What the kernels of csrc/cuda/histogram.cpp are given.
#pragma once

namespace fb::device {

// Bins that a block counts in its shared memory.
inline constexpr int kSharedBins = 4096;

struct HistogramArguments {
  const void* in;
  const void* weights;
  const void* edges;  // bins + 1; null: even intervals of [low, high]
  unsigned long long* counts;
  long long* numbers;  // the bin of each element
  void* hist;
  long long n, bins;
  double low, high;
  bool uniform;
};

}  // namespace fb::device
