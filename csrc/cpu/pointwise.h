// Running an element function over strided operands of any element types.
#pragma once

#include "core/tensor.h"

namespace fb::cpu {

// out[i] = f(in[0][i], in[1][i], ..., params) over one contiguous run. Bit k of `fixed` says that
// operand k is a single value rather than a run. Inputs and outputs have the kernel's own types.
using PointwiseKernel = void (*)(int64_t n, void* out, const void* const* in, unsigned fixed,
                                 const void* params);

inline constexpr int kMaxPointwiseInputs = 3;

// One input: a tensor, or a number already stored as the kernel's type.
struct PointwiseInput {
  const Tensor* tensor = nullptr;
  const void* value = nullptr;
  DType kernel_dtype = DType::kFloat32;
};

struct PointwiseCall {
  PointwiseKernel kernel;
  DType kernel_out_dtype;
  int inputs;
  PointwiseInput input[kMaxPointwiseInputs];
  const void* params;
  const Tensor* out;  // of the broadcast shape
  IntSpan order;      // dimensions from slowest to fastest
};

void run_pointwise(const PointwiseCall& call);

}  // namespace fb::cpu
