// What the kernels of csrc/cuda/index.cpp are given.
#pragma once

#include "cuda/device/error.cuh"
#include "cuda/device/index_dims.h"

namespace fb::device {

inline constexpr int kMostPositions = 16;
inline constexpr int kJoins = 4;  // elements, or packs, that a thread joins atomically

// Elements of `array` at the dimensions `before`, then positions, then the dimensions `after`.
struct PickArguments {
  void* array;
  void* values;      // contiguous; where they go, or come from
  long long n;       // elements of `values`
  long long picked;  // how often positions pick
  long long after_size;
  IndexDims before, at, after;  // `at`: those that the positions are for
  int dimension;                // the first of `at`, for errors
  const long long* positions[kMostPositions];
  bool from_the_end;
  void* keys;       // of the picks, of the kernel's type
  long long limit;  // the key of a bad one
  ErrorSite error;
};

// values[i][j] = array[index[i][j]][j] for dimension 0, or the reverse.
struct GatherArguments {
  void* array;
  void* values;  // contiguous, of the shape of `index`
  const long long* index;
  long long n;
  IndexDims dims;        // sizes of `index`
  int along;             // which of them is indexed
  int dimension;         // the same before others were joined, for errors
  long long array_size;  // along it
  void* keys;            // of the elements, of the kernel's type
  long long limit;       // the key of a bad one
  ErrorSite error;
};

struct AddSumsArguments {
  void* out;
  const float* sums;
  long long n;
};

struct DivideArguments {
  void* sums;
  const long long* counts;
  long long n;
};

inline constexpr int kMaskedPacks = 2;  // that a thread has on their way

struct MaskedFillArguments {
  alignas(16) char value[16];
  void* out;
  const void* in;
  const unsigned char* mask;
  long long n;
};

}  // namespace fb::device
