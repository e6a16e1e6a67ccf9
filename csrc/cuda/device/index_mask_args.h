// What the kernels of csrc/cuda/index_mask.cpp are given.
#pragma once

#include "cuda/device/order_args.h"

namespace fb::device {

inline constexpr int kMaskDims = 64;

struct MaskArguments {
  Parts parts;
  const unsigned char* mask;
  const void* in;
  void* out;           // of compress
  long long* columns;  // of nonzero: a row of `count` coordinates for each dimension
  long long count;
  int dims;
  long long sizes[kMaskDims];
};

struct TotalArguments {
  const long long* counts;
  unsigned long long* halves;  // sums of the lower and of the upper 32 bits
  long long n;
};

struct RepeatArguments {
  const long long* starts;  // n + 1: where the copies of each position begin, and the end
  long long* out;
  long long n;
};

}  // namespace fb::device
