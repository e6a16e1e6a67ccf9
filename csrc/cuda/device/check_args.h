// What the kernels of csrc/cuda/check.cpp are given.
#pragma once

namespace fb::device {

struct CheckArguments {
  const void* in;
  long long n;
  double low, high;  // as kernel::ValueRange
  bool above, below, whole;
  long long least, greatest;
  unsigned long long* found;  // n - the first position; starts with 0
};

}  // namespace fb::device
