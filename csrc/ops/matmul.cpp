// Products of matrices and vectors.
#include "gen/ops/matmul.h"

#include "gen/ops/arith.h"
#include "gen/ops/complex.h"
#include "gen/ops/view.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

void check_vector(const Tensor& t, const char* name) {
  FB_CHECK(t.dim() == 1, "expected ", name, " to be 1-d, got shape ", t.sizes());
}
void check_matrix(const Tensor& t, const char* name) {
  FB_CHECK(t.dim() == 2, "expected ", name, " to be a matrix, got shape ", t.sizes());
}
void check_batch(const Tensor& t, const char* name) {
  FB_CHECK(t.dim() == 3, "expected ", name, " to be a batch of matrices (3-d), got shape ",
           t.sizes());
}

void check_product(const Tensor& a, const Tensor& b) {
  FB_CHECK(a.size(-1) == b.size(-2), "shapes ", a.sizes(), " and ", b.sizes(),
           " cannot be multiplied: ", a.size(-1), " columns against ", b.size(-2), " rows");
  check_same_dtype(a, b);
}

// For sums of batched products: PyTorch reads the dimensions before it checks them.
void check_summands(const Tensor& a, const Tensor& b) {
  FB_CHECK_INDEX(a.dim() > 2 && b.dim() > 2, "expected two batches of matrices (3-d), got shapes ",
                 a.sizes(), " and ", b.sizes());
}

void check_batches(const Tensor& a, const Tensor& b) {
  check_batch(a, "the first batch");
  check_batch(b, "the second batch");
  FB_CHECK(a.size(0) == b.size(0), "batches of different length: ", a.sizes(), " and ", b.sizes());
  check_product(a, b);
}

bool equals(const Scalar& s, double value) {
  return s.kind() != Scalar::Kind::kComplex && s.to<double>() == value;
}

// A factor in the type of the product, as PyTorch converts it: 1.5 counts as 1 among integers.
Scalar factor(const Scalar& s, DType dtype) {
  if (dtype == DType::kBool) return Scalar(s.to<bool>());
  return is_integral(dtype) ? Scalar(s.to<int64_t>()) : s;
}

// beta * input + alpha * product, for a product that exists already.
Tensor combine(const Tensor& input, Tensor product, const Scalar& beta, const Scalar& alpha) {
  check_same_dtype(input, product);
  const DType dtype = product.dtype();
  const Tensor start = ops::expand(input, broadcast_shapes(input.sizes(), product.sizes()));
  FB_CHECK(start.sizes() == product.sizes(), "input of shape ", input.sizes(),
           " does not broadcast to ", product.sizes());
  if (!equals(alpha, 1)) ops::mul_(product, factor(alpha, dtype));
  if (!equals(beta, 0)) ops::add_(product, start, factor(beta, dtype));
  return product;
}

// The same for a product that is yet to be computed. 16-bit results are rounded once, at the end.
template <class Product>
Tensor combine_product(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
                       const Scalar& alpha, Product&& product) {
  const DType dtype = a.dtype(), wide = compute_type(dtype);
  if (wide == dtype) return combine(input, product(a, b), beta, alpha);
  check_same_dtype(input, a);
  check_same_dtype(a, b);
  return cast(combine(cast(input, wide), product(cast(a, wide), cast(b, wide)), beta, alpha),
              dtype);
}

Tensor add_product(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta,
                   const Scalar& alpha) {
  if (!equals(beta, 1) || !equals(alpha, 1))
    return combine_product(input, a, b, beta, alpha, matrix_product);
  check_same_dtype(input, a);
  return matrix_product_plus(input, a, b);
}

Tensor as_column(const Tensor& vector) {
  return inner_view(vector, {vector.size(0), 1}, {vector.stride(0), 1}, vector.offset());
}
Tensor as_row(const Tensor& vector) { return transposed(as_column(vector)); }

// Whether all dimensions but the last can be merged into one.
bool has_foldable_rows(const Tensor& t) {
  for (int64_t i = 0; i + 2 < t.dim(); ++i) {
    if (t.strides()[i] != t.strides()[i + 1] * t.sizes()[i + 1]) return false;
  }
  return true;
}

// All dimensions but the last two as one, broadcast to `batch`. A single matrix gets stride 0.
Tensor as_batch(const Tensor& t, const Dims& batch) {
  Dims sizes = batch;
  sizes.push_back(t.size(-2));
  sizes.push_back(t.size(-1));
  const Tensor full = t.sizes() == sizes ? t : ops::expand(t, sizes);
  return batch.size() == 1 ? full : ops::reshape(full, {numel_of(batch), t.size(-2), t.size(-1)});
}

// Many rows times one matrix or vector: a single product of matrices, also for the gradients.
Tensor folded_product(const Tensor& input, const Tensor& other) {
  const Tensor rows = ops::reshape(input, {-1, input.size(-1)});
  Dims sizes = input.sizes().vec();
  sizes.pop_back();
  if (other.dim() == 1) return ops::_unsafe_view(ops::mv(rows, other), sizes);
  sizes.push_back(other.size(1));
  return ops::_unsafe_view(ops::mm(rows, other), sizes);
}

}  // namespace

Tensor compute::mm(const Tensor& input, const Tensor& mat2) {
  check_matrix(input, "input");
  check_matrix(mat2, "mat2");
  check_product(input, mat2);
  return matrix_product(input, mat2);
}

Tensor compute::bmm(const Tensor& input, const Tensor& mat2) {
  check_batches(input, mat2);
  return matrix_product(input, mat2);
}

Tensor composed::matmul(const Tensor& input, const Tensor& other) {
  if (input.dim() == 2 && other.dim() == 2) return ops::mm(input, other);
  FB_CHECK(input.dim() > 0 && other.dim() > 0,
           "both operands need at least 1 dimension, got shapes ", input.sizes(), " and ",
           other.sizes());
  if (other.dim() == 1 && input.dim() == 1) return ops::dot(input, other);
  if (other.dim() == 1 && input.dim() == 2) return ops::mv(input, other);
  const Tensor a = input.dim() == 1 ? ops::unsqueeze(input, 0) : input;
  const Tensor b = other.dim() == 1 ? ops::unsqueeze(other, 1) : other;
  check_product(a, b);
  if (input.dim() > 2 && other.dim() <= 2 && input.numel() > 0 && has_foldable_rows(input))
    return folded_product(input, other);
  Dims sizes = broadcast_shapes(a.sizes().first(a.dim() - 2), b.sizes().first(b.dim() - 2));
  const Tensor product =
      sizes.empty() ? ops::mm(a, b) : ops::bmm(as_batch(a, sizes), as_batch(b, sizes));
  if (input.dim() > 1) sizes.push_back(a.size(-2));
  if (other.dim() > 1) sizes.push_back(b.size(-1));
  return product.sizes() == sizes ? product : ops::_unsafe_view(product, sizes);
}

Tensor compute::mv(const Tensor& input, const Tensor& vec) {
  FB_CHECK_INDEX(input.dim() > 0, "input has no dimensions");
  check_matrix(input, "input");
  check_vector(vec, "vec");
  const Tensor column = as_column(vec);
  check_product(input, column);
  return reshaped(matrix_product(input, column), {input.size(0)});
}

Tensor compute::dot(const Tensor& input, const Tensor& tensor) {
  FB_CHECK(input.dim() == 1 && tensor.dim() == 1, "expected two 1-d tensors, got shapes ",
           input.sizes(), " and ", tensor.sizes());
  FB_CHECK(input.size(0) == tensor.size(0), "expected vectors of the same length, got ",
           input.size(0), " and ", tensor.size(0), " elements");
  check_same_dtype(input, tensor);
  return reshaped(matrix_product(as_row(input), as_column(tensor)), {});
}

Tensor compute::vdot(const Tensor& input, const Tensor& other) {
  return compute::dot(ops::conj(input), other);
}

Tensor inner(const Tensor& input, const Tensor& other) {
  if (input.dim() == 0 || other.dim() == 0) return ops::mul(input, other);
  check_same_dtype(input, other);
  FB_CHECK(input.size(-1) == other.size(-1),
           "expected last dimensions of the same size, got shapes ", input.sizes(), " and ",
           other.sizes());
  if (input.dim() == 1 && other.dim() == 1) return ops::dot(input, other);
  return ops::_tensordot(input, other, {-1}, {-1});
}

Tensor outer(const Tensor& input, const Tensor& vec2) {
  check_vector(input, "input");
  check_vector(vec2, "vec2");
  return ops::mul(ops::unsqueeze(input, 1), vec2);
}

Tensor compute::addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2,
                      const Scalar& beta, const Scalar& alpha) {
  check_matrix(mat1, "mat1");
  check_matrix(mat2, "mat2");
  check_product(mat1, mat2);
  return add_product(input, mat1, mat2, beta, alpha);
}

Tensor compute::addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                      const Scalar& alpha) {
  check_matrix(mat, "mat");
  check_vector(vec, "vec");
  return combine_product(input, mat, vec, beta, alpha,
                         [](const Tensor& m, const Tensor& v) { return compute::mv(m, v); });
}

Tensor compute::addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2,
                     const Scalar& beta, const Scalar& alpha) {
  // Term by term, so that the result lies in memory as input does.
  const Tensor product = ops::outer(vec1, vec2);
  const DType dtype = input.dtype();
  FB_CHECK(broadcast_shapes(input.sizes(), product.sizes()) == product.sizes().vec(),
           "input of shape ", input.sizes(), " does not broadcast to ", product.sizes());
  const Scalar a = factor(alpha, dtype), b = factor(beta, dtype);
  const Tensor scaled = equals(a, 1) ? product : compute::mul(product, a);
  if (!equals(b, 0)) return compute::add(equals(b, 1) ? input : compute::mul(input, b), scaled);
  const Tensor out = make_like(compute::expand(input, product.sizes()), scaled.dtype());
  copy_into(out, scaled);
  return out;
}

Tensor compute::baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2,
                        const Scalar& beta, const Scalar& alpha) {
  check_summands(batch1, batch2);
  check_batches(batch1, batch2);
  return add_product(input, batch1, batch2, beta, alpha);
}

Tensor compute::addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2,
                       const Scalar& beta, const Scalar& alpha) {
  check_summands(batch1, batch2);
  check_batches(batch1, batch2);
  // The sum over the batch is one product with a deeper sum.
  const int64_t depth = batch1.size(0) * batch1.size(2);
  const Tensor wide = ops::reshape(compute::permute(batch1, {1, 0, 2}), {batch1.size(1), depth});
  const Tensor tall = ops::reshape(batch2, {depth, batch2.size(2)});
  return add_product(input, wide, tall, beta, alpha);
}

}  // namespace fb::ops
