// Tensors as matrices: the bridge from strided tensors to gemm kernels, and shape helpers of matrix
// operators.
#pragma once

#include "kernel/gemm.h"
#include "ops/types.h"

namespace fb::ops {

// Unrecorded views, for what an operator does with its operands and its result. The transposed
// matrices: the last two dimensions exchanged.
Tensor transposed(const Tensor& t);
// The dimensions in another order.
Tensor reordered(const Tensor& t, const Dims& order);
// A contiguous tensor in another shape.
Tensor reshaped(const Tensor& t, IntSpan sizes);

// A matrix operand in a form that gemm takes, and the tensor copied for it if its own memory is not
// in such a form.
struct MatrixOperand {
  Tensor owner;
  kernel::MatrixIn in;
};
// The matrix, or batch of matrices, in the last two dimensions.
MatrixOperand matrix_operand(const Tensor& t, DType dtype);
// The type that gemm computes products of such tensors in: float32 for 16-bit floats that it has no
// code for.
DType product_type(const Tensor& t);

// The product of two matrices, or of two batches of them of equal length. Types are equal.
Tensor matrix_product(const Tensor& a, const Tensor& b);
// start + a b, where start broadcasts to the result.
Tensor matrix_product_plus(const Tensor& start, const Tensor& a, const Tensor& b);

// Refuses operands of different types.
void check_same_dtype(const Tensor& a, const Tensor& b);

}  // namespace fb::ops
