// Matrix products on raw row-major memory. Picks between small kernels, oneDNN, OpenBLAS and plain
// loops.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace fb::cpu {

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

// Any dtype but bool and float16; bfloat16 only where gemm_supports says so. The result does not
// depend on the number of threads.
void gemm(const GemmCall& call);

// Whether gemm takes 16-bit floats as they are; otherwise the caller computes in float32.
bool gemm_supports(DType dtype);

}  // namespace fb::cpu
