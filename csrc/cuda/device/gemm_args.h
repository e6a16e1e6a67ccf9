// What the product kernel of csrc/cuda/gemm.cpp is given.
#pragma once

namespace fb::device {

// Strides in elements. C[i] = A[i] B[i], plus what C holds or a vector that is added to every row.
struct ProductArguments {
  const void* a;
  const void* b;
  void* c;
  const void* bias;
  long long m, n, k, batch;
  long long a_row, a_column, a_batch;
  long long b_row, b_column, b_batch;
  long long c_row, c_batch;
  bool accumulate;
};

}  // namespace fb::device
