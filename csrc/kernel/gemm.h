// Matrix products on raw row-major memory.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// A row-major matrix, or the transpose of one: `ld` elements separate two rows of what is stored.
// A batch stride of 0 uses one matrix for every product.
struct MatrixIn {
  const void* data;
  int64_t ld;
  bool transposed = false;
  int64_t batch_stride = 0;
};
struct MatrixOut {
  void* data;
  int64_t ld;
  int64_t batch_stride = 0;
};

// C[i] = A[i] B[i] for i < batch, with A m x k, B k x n and C m x n. C overlaps neither A nor B.
struct GemmCall {
  DType dtype;
  int64_t batch, m, n, k;
  MatrixIn a, b;
  MatrixOut c;
  bool accumulate = false;     // add to what C holds
  const void* bias = nullptr;  // a vector of n added to every row; not together with `accumulate`
};

struct Gemm {
  // Any dtype but bool; 16-bit floats only if gemm_supports allows it. The result does not depend
  // on the number of threads.
  Slot<void(const GemmCall& call)> gemm;
  // Whether gemm takes the type as it is; otherwise the caller computes in float32.
  Slot<bool(DType dtype)> gemm_supports;
};

}  // namespace fb::kernel
