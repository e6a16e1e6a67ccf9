// What the kernels of csrc/cuda/sparse.cpp are given.
#pragma once

#include "cuda/device/order_args.h"

namespace fb::device {

inline constexpr int kSparseDims = 64;

struct PositionArguments {
  const long long* in;
  long long* out;
  long long n;
  int dims;
  long long sizes[kSparseDims];
};

struct PositionGroupArguments {
  Parts parts;
  const long long* sorted;
  const long long* order;  // of the positions as they came
  long long* distinct;
  long long* groups;
};

// Positions that are also in a sorted list.
struct MatchArguments {
  Parts parts;
  const long long* positions;
  const long long* list;
  long long count;
  long long* of_positions;
  long long* of_list;  // null: `positions` is sorted and is merged with the list
};

// out[i] = first + i.
struct NumberArguments {
  long long* out;
  long long n, first;
};

}  // namespace fb::device
