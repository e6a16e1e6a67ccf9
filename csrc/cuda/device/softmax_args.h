// What the kernels of csrc/cuda/softmax.cpp are given.
#pragma once

namespace fb::device {

// Contiguous arrays (outer, n, inner); a block has `lanes` threads for each of its rows. Where
// inner is not 1, neighbouring threads have neighbouring rows.
struct SoftmaxArguments {
  const void* in;
  const void* gradient;  // of the backward, where `in` is the result
  void* out;
  long long outer, n, inner;
  int lanes;
};

}  // namespace fb::device
