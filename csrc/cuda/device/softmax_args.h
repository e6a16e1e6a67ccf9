// What the kernels of csrc/cuda/softmax.cpp are given.
#pragma once

namespace fb::device {

// Contiguous arrays (outer, n, inner); a block has `lanes` threads for each of its rows.
struct SoftmaxArguments {
  const void* in;
  const void* gradient;  // of the backward, where `in` is the result
  void* out;
  long long outer, n, inner;
  int lanes;
  bool columns;  // neighbouring threads have neighbouring rows
};

}  // namespace fb::device
