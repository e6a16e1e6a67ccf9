// The gradients of reductions.
#include "autograd/formulas/reduce.h"

#include <cmath>

#include "autograd/formula.h"
#include "autograd/formulas/scan.h"
#include "gen/ops/adjoint.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/host.h"

namespace fb::autograd::formula {
namespace {

using OptDims = std::optional<IntSpan>;

// The dimensions of a reduction: all if none are named.
Dims reduced_dims(IntSpan shape, OptDims dim) {
  if (dim && !dim->empty() && !shape.empty()) return wrap_dims(*dim, ndim_of(shape));
  Dims all;
  for (int64_t d = 0; d < ndim_of(shape); ++d) all.push_back(d);
  return all;
}

double reduced_count(IntSpan shape, OptDims dim) {
  double count = 1;
  for (const int64_t d : reduced_dims(shape, dim)) count *= static_cast<double>(shape[d]);
  return count;
}

// With the reduced dimensions restored, of size 1.
Tensor with_dims(const Tensor& reduced, IntSpan shape, OptDims dim, bool keepdim) {
  if (keepdim || shape.empty()) return reduced;
  const Dims dims = reduced_dims(shape, dim);
  if (dims.size() == 1) return ops::unsqueeze(reduced, dims[0]);
  Dims kept = shape.vec();
  for (const int64_t d : dims) kept[d] = 1;
  return ops::reshape(reduced, kept);
}

// Whether there are zeros, so that the slower formula is needed. Elements of a batch are not read.
bool has_zero(const Tensor& t) {
  if (t->flags & kBatched) return true;
  return ops::host_number(ops::any(ops::eq(t, 0))).to<bool>();
}

// The product of all other elements of the row: those before times those after.
Tensor product_of_others(const Tensor& x, int64_t dim) {
  const Tensor after = ops::flip(product_before(ops::flip(x, {dim}), dim), {dim});
  return product_before(x, dim) * after;
}

// Elements where `chosen` is True share the gradient of their row.
Tensor shared(const Tensor& grad, const Tensor& chosen, IntSpan dims) {
  return grad / ops::sum(chosen, dims, true) * chosen;
}

}  // namespace

Tensor spread_over(const Tensor& reduced, IntSpan shape, OptDims dim, bool keepdim) {
  return ops::expand(with_dims(reduced, shape, dim, keepdim), shape);
}

Tensor mean_backward(const Tensor& grad, IntSpan shape, OptDims dim, bool keepdim) {
  return spread_over(grad / reduced_count(shape, dim), shape, dim, keepdim);
}

Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  if (!has_zero(input)) return grad * conj(result / input);
  const Tensor others = product_of_others(ops::reshape(input, {-1}), 0);
  return grad * conj(ops::reshape(others, input.sizes()));
}

Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result, int64_t dim,
                     bool keepdim) {
  if (input.dim() == 0) return grad;
  const Dims dims{dim};
  const Tensor g = with_dims(grad, input.sizes(), dims, keepdim);
  if (has_zero(input)) return g * conj(product_of_others(input, dim));
  return g * conj(with_dims(result, input.sizes(), dims, keepdim) / input);
}

Tensor extremum_backward(const Tensor& grad, const Tensor& input, const Tensor& result, OptDims dim,
                         bool keepdim) {
  const IntSpan shape = input.sizes();
  const Tensor chosen = ops::eq(input, with_dims(result, shape, dim, keepdim));
  return shared(with_dims(grad, shape, dim, keepdim), chosen, reduced_dims(shape, dim));
}

Tensor extremum_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                         std::optional<int64_t> dim, bool keepdim) {
  if (!dim) return extremum_backward(grad, input, result, OptDims(), keepdim);
  return extremum_backward(grad, input, result, OptDims(IntSpan(&*dim, 1)), keepdim);
}

Tensor equals_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor both_nan = ops::logical_and(ops::isnan(input), ops::isnan(result));
  const Tensor chosen = ops::logical_or(ops::eq(input, result), both_nan);
  return grad / ops::sum_all(chosen) * chosen;
}

Tensor chosen_backward(const Tensor& grad, const Tensor& indices, IntSpan shape, int64_t dim,
                       bool keepdim) {
  if (keepdim || shape.empty()) return ops::_gather_backward(grad, shape, dim, indices);
  const int64_t d = wrap_dim(dim, ndim_of(shape));
  return ops::_gather_backward(ops::unsqueeze(grad, d), shape, d, ops::unsqueeze(indices, d));
}

Tensor var_backward(const Tensor& grad, const Tensor& input, OptDims dim,
                    const std::optional<Scalar>& correction, bool keepdim) {
  const IntSpan shape = input.sizes();
  const double divisor = reduced_count(shape, dim) - (correction ? correction->to<double>() : 1.0);
  const Tensor g = with_dims(grad, shape, dim, keepdim);
  const Tensor centred = input - ops::mean(input, dim, true);
  if (divisor > 0) return g * (2 / divisor) * centred;
  // Infinitely steep, and undefined at the mean itself.
  const Tensor steep = ops::full_like(centred, ops::kInfinity);
  return g * ops::masked_fill(steep, ops::eq(centred, 0), std::nan(""));
}

Tensor std_backward(const Tensor& grad, const Tensor& input, const Tensor& result, OptDims dim,
                    const std::optional<Scalar>& correction, bool keepdim) {
  const Tensor of_var = ops::masked_fill(grad / (result * 2), ops::eq(result, 0), 0);
  return var_backward(of_var, input, dim, correction, keepdim);
}

Tensor norm_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                     const std::optional<Scalar>& p, OptDims dim, bool keepdim) {
  const double ord = p ? p->to<double>() : 2.0;
  const IntSpan shape = input.sizes();
  const Tensor g = with_dims(grad, shape, dim, keepdim);
  const Tensor norm = with_dims(result, shape, dim, keepdim);
  if (ord == 0) return ops::zeros_like(input);
  if (ord == 1) return g * ops::sgn(input);
  if (std::isinf(ord)) {
    const Tensor chosen = ops::eq(ops::abs(input), norm);
    return shared(g, chosen, reduced_dims(shape, dim)) * ops::sgn(input);
  }
  // 1 in place of a norm of 0 keeps infinities out of second derivatives too.
  const Tensor is_zero = ops::eq(norm, 0);
  const Tensor divisor = ops::masked_fill(norm, is_zero, 1);
  if (ord == 2) return g * ops::masked_fill(input / divisor, is_zero, 0);
  const Tensor size = ops::masked_fill(ops::abs(input), ops::eq(input, 0), 1);
  const Tensor share = ops::masked_fill(ops::power(size / divisor, ord - 1), is_zero, 0);
  return g * share * ops::sgn(input);
}

}  // namespace fb::autograd::formula
