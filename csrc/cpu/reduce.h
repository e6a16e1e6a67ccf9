// Reductions over any set of dimensions of a strided array.
#pragma once

#include "cpu/isa.h"
#include "kernel/reduce.h"

namespace fb::cpu {

using kernel::ReduceArgs;
using kernel::ReduceOp;

FB_DECLARE_SLOT(kernel::Reduce, reduce)

inline constexpr int kMaxReduceDims = 64;

// A reduction after unit dimensions are dropped and adjacent ones merged, dimensions ordered so
// that the last kept and the last reduced one have the smallest strides.
struct ReducePlan {
  const void* in;
  void* out;
  void* out2;
  double param;
  int64_t outputs;   // number of results
  int64_t count;     // elements behind each result
  bool by_rows;      // the fastest dimension is kept: add whole rows instead of running along one
  int kept_ndim;     // at least 1
  int reduced_ndim;  // at least 1
  int64_t kept_sizes[kMaxReduceDims];
  int64_t kept_in[kMaxReduceDims];
  int64_t kept_out[kMaxReduceDims];
  int64_t reduced_sizes[kMaxReduceDims];
  int64_t reduced_in[kMaxReduceDims];
};

FB_DECLARE_KERNEL(void, reduce_fold, ReduceOp op, DType dtype, const ReducePlan& plan)
FB_DECLARE_KERNEL(void, reduce_norm, ReduceOp op, DType dtype, const ReducePlan& plan)
FB_DECLARE_KERNEL(void, reduce_moments, ReduceOp op, DType dtype, const ReducePlan& plan)
FB_DECLARE_KERNEL(void, reduce_index, ReduceOp op, DType dtype, const ReducePlan& plan)

}  // namespace fb::cpu
