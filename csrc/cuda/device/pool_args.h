// What the kernels of pooling are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// As kernel::PoolAxis. Without a stride, windows divide the input evenly.
struct PoolSide {
  long long in, out, kernel, stride, dilation, padding;
};

// Arrays (planes, depth, height, width, inner).
struct PoolArguments {
  PoolSide side[3];
  long long planes, inner;
  long long n;  // what threads are numbered by
  const void* in;
  void* out;
  unsigned char* numbers;
  long long* indices;
  int* owners;
  ErrorSite error;
};

struct FractionalArguments {
  long long in[3], out[3], kernel[3];
  int sample[3];  // of a plane, for each axis; -1 for an axis that there is not
  int rank;
  long long n;
  const void* samples;
  const void* from;
  void* to;
  long long* indices;
};

}  // namespace fb::device
