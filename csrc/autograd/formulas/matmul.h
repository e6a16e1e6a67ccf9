// Gradients of products of matrices and of distances between rows.
#pragma once

#include "autograd/formula.h"
#include "autograd/formulas/arith.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

// The last two dimensions exchanged.
inline Tensor transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }
// The same, and complex elements conjugated.
inline Tensor adjoint_of(const Tensor& t) { return conj(transposed(t)); }

// The product of matrices, or of batches of them, stored by columns if asked for: a gradient that
// lies in memory as its operand does can be kept by the leaf without a copy.
Tensor product(const Tensor& a, const Tensor& b, bool by_columns);

// Of x1, for p-norm distances between rows of x1 and rows of x2; for x2, exchange the operands and
// transpose the other arguments. Rows that coincide contribute a gradient of zero.
Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                      const Tensor& distances);
// The same for Euclidean distances, without the differences of all pairs of rows in memory.
Tensor euclidean_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                          const Tensor& distances);

}  // namespace fb::autograd::formula
