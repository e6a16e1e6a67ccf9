// Reductions over any set of dimensions of a strided array.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// The result's element type follows from the operation: sum and prod of integers give int64; any
// and all bool; count_nonzero and the indices int64; everything else the input's type.
enum class ReduceOp : uint8_t {
  kSum,  // param: what to divide a sum of floats by, 0 for nothing
  kNanSum,
  kProd,
  kAmax,
  kAmin,
  kAny,
  kAll,
  kCountNonzero,
  kNorm1,
  kNorm2,
  kNormInf,
  kNormNegInf,
  kVar,       // param: correction; second result: the mean
  kStd,       // likewise
  kMaxIndex,  // first result the values, second the indices, either may be null; one reduced
              // dimension
  kMinIndex,
};

inline constexpr int kMaxReduceDims = 64;

// The caller's view: an array, which of its dimensions are reduced, and where the results go.
// Strides are in elements; out_strides is ignored at reduced dimensions, and holds for both
// results.
struct ReduceArgs {
  const void* in;
  void* out;
  void* out2 = nullptr;
  int ndim;
  const int64_t* sizes;
  const int64_t* in_strides;
  const int64_t* out_strides;
  const bool* reduced;
  double param = 0;
};

// Reduces args.in. An empty reduction gives the identity (NaN for var); where there is none
// (amax, amin, the indices) the caller must have refused it.
void reduce(ReduceOp op, DType dtype, const ReduceArgs& args);

// The same after unit dimensions are dropped and neighbours merged, dimensions ordered so that the
// last kept and the last reduced one have the smallest strides.
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
