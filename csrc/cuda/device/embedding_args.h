// What the kernels of csrc/cuda/embedding.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// Rows of a table that are picked: each by itself, or a bag of them.
struct RowArguments {
  const void* table;
  long long rows, width, stride;
  const long long* index;
  const long long* bounds;  // of bags
  const void* factor;       // by position in `index`, of the type computed with; null: 1
  void* out;
  long long* where;  // the row that an element of `out` is from
  long long n;       // elements of `out`
  ErrorSite error;
};

// Positions and the places that they are counted or summed in.
struct NumberArguments {
  const long long* in;
  long long* out;
  void* keys;  // of the kernel's type
  const long long* bags;
  unsigned long long* counts;
  void* reciprocals;
  long long n, count, limit, width;
  long long number, other;
  ErrorSite error;
};

struct NormArguments {
  void* table;
  const long long* numbers;
  unsigned* claimed;  // by row: whether some number has it
  long long n, rows, width, row_step, step;
  double max_norm, p;
};

}  // namespace fb::device
