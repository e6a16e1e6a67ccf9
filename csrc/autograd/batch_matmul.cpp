// Products of batches of matrices and vectors.
#include "autograd/batch_rules.h"
#include "autograd/formula.h"
#include "gen/ops/create.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"

namespace fb::autograd::batch_rule {

using namespace formula;

Tensor mm(const Batch& b, const Tensor& input, const Tensor& mat2) {
  FB_CHECK(input.dim() == 2 && mat2.dim() == 2, "expected two matrices, got tensors with ",
           input.dim(), " and ", mat2.dim(), " dimensions");
  return b.wrap(ops::matmul(b.aligned(input), b.aligned(mat2)));
}

Tensor bmm(const Batch& b, const Tensor& input, const Tensor& mat2) {
  FB_CHECK(input.dim() == 3 && mat2.dim() == 3,
           "expected two batches of matrices, got tensors with ", input.dim(), " and ", mat2.dim(),
           " dimensions");
  return b.wrap(ops::matmul(b.aligned(input), b.aligned(mat2)));
}

Tensor mv(const Batch& b, const Tensor& input, const Tensor& vec) {
  FB_CHECK(input.dim() == 2 && vec.dim() == 1, "expected a matrix and a vector, got tensors with ",
           input.dim(), " and ", vec.dim(), " dimensions");
  // One matrix for all: a single product.
  if (!b.is_batched(input)) return b.wrap(ops::matmul(b.all(vec), ops::t(input)));
  const Tensor column = ops::unsqueeze(b.is_batched(vec) ? b.all(vec) : vec, -1);
  return b.wrap(ops::squeeze(ops::matmul(b.aligned(input), column), Dims{-1}));
}

Tensor dot(const Batch& b, const Tensor& input, const Tensor& tensor) {
  FB_CHECK(input.dim() == 1 && tensor.dim() == 1 && input.size(0) == tensor.size(0),
           "expected two vectors of one size, got shapes ", input.sizes(), " and ", tensor.sizes());
  return b.wrap(ops::sum(b.aligned(input) * b.aligned(tensor), Dims{-1}));
}

Tensor vdot(const Batch& b, const Tensor& input, const Tensor& other) {
  return batch_rule::dot(b, formula::conj(input), other);
}

// As the operators that it stands for: each finds out by itself what is batched.
Tensor addmm(const Batch&, const Tensor& input, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta, const Scalar& alpha) {
  const Tensor product = ops::mm(mat1, mat2);
  const Tensor scaled = equals(alpha, 1) ? product : alpha * product;
  if (equals(beta, 0)) return ops::add(ops::zeros_like(input), scaled);
  return equals(beta, 1) ? input + scaled : beta * input + scaled;
}

}  // namespace fb::autograd::batch_rule
