// What the kernels of csrc/cuda/random.cpp are given.
#pragma once

#include "cuda/device/error.cuh"

namespace fb::device {

// Where every thread's stream goes on: of Generator::Words.
struct Draws {
  unsigned long long seed, offset;
};

struct FillArguments {
  void* out;
  long long n;
  Draws draws;
  double first, second;  // parameters of the distribution
};

struct MaskArguments {
  unsigned char* out;
  long long n, threads;
  Draws draws;
  float keep;
};

struct IntegerArguments {
  void* out;
  long long n;
  Draws draws;
  unsigned long long range;  // 0: all of 64 bits
  long long base;
};

struct ShuffleArguments {
  void* out;
  long long n;
  Draws draws;
  int low_bits, high_bits;  // of a power of two that is not below n
};

struct SampleArguments {
  void* out;
  long long n;
  Draws draws;
  const void* first;  // parameters, one for each element
  const void* second;
  ErrorSite error;
};

struct CategoryArguments {
  long long* out;
  long long rows, categories, samples;
  Draws draws;
  const void* weights;
  void* sums;  // of each row's weights up to an element
  int* faults;
  ErrorSite error;
};

struct SlopeArguments {
  const void* in;
  void* out;
  void* slopes;
  long long n;
  Draws draws;
  double lower, upper;
};

struct GradientArguments {
  void* out;
  long long n;
  const void* in[3];
};

}  // namespace fb::device
