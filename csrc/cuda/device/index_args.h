// What the kernels of csrc/cuda/index.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

inline constexpr int kIndexDims = 8;

struct IndexDims {
  int count;
  long long sizes[kIndexDims];
  long long strides[kIndexDims];  // in elements, of the array that is picked from
};

// Elements of `array` at the dimensions `before`, then positions, then the dimensions `after`.
struct PickArguments {
  void* array;
  void* values;      // contiguous; where they go, or come from
  long long n;       // elements of `values`
  long long picked;  // how often positions pick
  long long after_size;
  IndexDims before, at, after;  // `at`: those that the positions are for
  const long long* positions[kIndexDims];
  bool from_the_end;
  ErrorRecord* error;
};

// values[i][j] = array[index[i][j]][j] for dimension 0, or the reverse.
struct GatherArguments {
  void* array;
  void* values;  // contiguous, of the shape of `index`
  const long long* index;
  long long n;
  IndexDims dims;  // sizes of `index`
  int dimension;
  long long array_size;  // along it
  ErrorRecord* error;
};

struct MaskedFillArguments {
  alignas(16) char value[16];
  void* out;
  const void* in;
  const unsigned char* mask;
  long long n;
};

}  // namespace fb::device
