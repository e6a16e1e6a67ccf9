// Reductions over any set of dimensions of a strided array.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

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

// The caller's view: an array, which of its dimensions are reduced, and where the results go.
// Strides are in elements; out_strides is ignored at reduced dimensions, and applies to both
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

struct Reduce {
  // Reduces args.in. An empty reduction gives the identity (NaN for var); where there is none
  // (amax, amin, the indices) the caller must have refused it.
  Slot<void(ReduceOp op, DType dtype, const ReduceArgs& args)> reduce;
};

}  // namespace fb::kernel
