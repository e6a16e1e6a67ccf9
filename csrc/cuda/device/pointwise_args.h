// What the kernels of pointwise operators are given.
#pragma once

namespace fb::device {

inline constexpr int kInputs = 3;
// Of the loop over operands without gaps: a block's threads, and the packs that each has. Small
// blocks come and go one by one; larger ones read and write by turns.
inline constexpr int kLoopThreads = 128, kLoopPacks = 1;
// A loop of more dimensions, after neighbours were joined, is launched in parts.
inline constexpr int kLoopDims = 8;

// The numbers of the host that an element function gets: inputs that are no tensors, and
// parameters, each in the type of the kernel.
struct PointwiseNumbers {
  alignas(16) char inputs[kInputs][16];
  alignas(16) char params[4 * 16];
};

struct ContiguousArguments {
  PointwiseNumbers numbers;
  long long n;
  void* out;
  const void* in[kInputs];
};

// Division by a number that the host knows, for dividends below 2^31: a product and a shift.
struct Divisor {
  unsigned divisor, factor, shift;
};

// The last dimension is the fastest. Strides are in bytes; operand 0 is the output. In a loop over
// packs the last dimension counts them.
struct StridedArguments {
  PointwiseNumbers numbers;
  long long n;
  int dims;
  Divisor by[kLoopDims];  // sizes, for loops below 2^31
  long long sizes[kLoopDims];
  long long strides[kInputs + 1][kLoopDims];
  bool repeated[kInputs];  // of packs: the fastest dimension of an input is one element
  void* out;
  const void* in[kInputs];
};

}  // namespace fb::device
