// An element function over tensors of any strides and element types.
#pragma once

#include "core/tensor.h"
#include "gen/kernel/pointwise.h"
#include "kernel/slot.h"

namespace fb::kernel {

inline constexpr int kMaxPointwiseInputs = 3;

// out[i] = f(in[0][i], in[1][i], ..., params) over one contiguous run. Bit k of `fixed`: operand k
// is a single number in the host's memory rather than a run. Bit k of `bool_inputs`: it is bool
// whatever `dtype` is. Everything has the kernel's own types.
struct PointwiseRun {
  PointwiseId function;
  DType dtype;
  DType out_dtype;
  int inputs;
  unsigned fixed;
  unsigned bool_inputs;
  int64_t n;
  void* out;
  const void* in[kMaxPointwiseInputs];
  const void* params;
};

// One input: a tensor, or a number already stored as the kernel's type.
struct PointwiseInput {
  const Tensor* tensor = nullptr;
  const void* value = nullptr;
  DType kernel_dtype = DType::kFloat32;
};

struct PointwiseCall {
  PointwiseId function;
  DType dtype;      // that operands are converted to
  DType out_dtype;  // that the element function gives
  int inputs;
  PointwiseInput input[kMaxPointwiseInputs];
  const void* params;
  const Tensor* out;  // of the broadcast shape
  IntSpan order;      // dimensions from slowest to fastest
};

struct Pointwise {
  Slot<void(const PointwiseRun& run)> pointwise_run;
  Slot<void(const PointwiseCall& call)> pointwise;
  // in[i] = mantissa[i] * 2^exponent[i], for n contiguous elements of float32 or float64; the
  // exponent of infinities and NaNs is 0.
  Slot<void(DType dtype, int64_t n, const void* in, void* mantissa, int32_t* exponent)> frexp;
};

}  // namespace fb::kernel
