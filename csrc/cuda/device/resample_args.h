// What the kernel of separable maps is given.
#pragma once

namespace fb::device {

// As kernel::AxisMap. Without an index, every output is the input at its own position.
struct ResampleSide {
  long long in, out;
  const int* index;
  const int* count;
  const void* weight;  // of the type that is computed with
};

struct ResampleArguments {
  ResampleSide side[3];
  long long inner;
  long long n;  // elements of the result
  const void* in;
  void* out;
};

}  // namespace fb::device
