// What the kernels of csrc/cuda/distance.cpp are given.
#pragma once

namespace fb::device {

// As kernel::PairCall; a block has `lanes` threads for each of its pairs.
struct PairArguments {
  long long rows, columns;
  const void* first;
  const void* second;
  double eps;
  const void* gradients;
  const void* distances;
  void* out;
  int lanes;
};

// Between all rows of two arrays: a block has a square of results.
struct AllPairsArguments {
  long long batch, rows, columns, depth;
  const void* a;
  const void* b;
  void* out;
  double p;
};

}  // namespace fb::device
