// What the kernels of csrc/cuda/unique.cpp are given.
#pragma once

#include "cuda/device/order_args.h"

namespace fb::device {

struct GroupArguments {
  Parts parts;
  const void* data;
  long long width;
  const long long* order;  // null: as they are
  long long* inverse;
  long long* firsts;
  long long* starts;  // of each group in the order
  long long* counts;
  long long groups;
};

struct DistinctArguments {
  Parts parts;
  const void* in;
  void* out;
};

// One pass of a merge sort: sorted runs of `run` slices each become runs of twice as many.
struct MergeArguments {
  const void* data;
  long long n, width, run;
  const long long* in;  // null in the first pass
  long long* out;
};

}  // namespace fb::device
