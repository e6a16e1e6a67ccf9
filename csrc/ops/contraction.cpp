// Contractions of tensors: each is reduced to one batch of matrix products.
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The dimensions of `t` that are not in `chosen`.
Dims others(const Tensor& t, const Dims& chosen) {
  Dims rest;
  for (int64_t i = 0; i < t.dim(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) rest.push_back(i);
  }
  return rest;
}

Dims joined(const Dims& first, const Dims& second) {
  Dims all = first;
  for (const int64_t x : second) all.push_back(x);
  return all;
}

Dims sizes_at(const Tensor& t, const Dims& dims) {
  Dims sizes;
  for (const int64_t dim : dims) sizes.push_back(t.sizes()[dim]);
  return sizes;
}

// Rows that are points of one space.
void check_points(const Tensor& x1, const Tensor& x2) {
  FB_CHECK(x1.dim() >= 2 && x2.dim() >= 2 && x1.size(-1) == x2.size(-1),
           "expected matrices with the same number of columns, got shapes ", x1.sizes(), " and ",
           x2.sizes());
  check_same_dtype(x1, x2);
}

}  // namespace

Tensor _tensordot(const Tensor& input, const Tensor& other, IntSpan dims_input,
                  IntSpan dims_other) {
  FB_CHECK(dims_input.size() == dims_other.size(),
           "expected the same number of dimensions of both tensors, got ", dims_input, " and ",
           dims_other);
  check_same_dtype(input, other);
  FB_CHECK_INDEX(static_cast<int64_t>(dims_input.size()) <= std::min(input.dim(), other.dim()),
                 "expected at most as many dimensions as the tensors have, got ", dims_input,
                 " for shapes ", input.sizes(), " and ", other.sizes());
  const Dims summed_a = wrap_dims(dims_input, input.dim());
  const Dims summed_b = wrap_dims(dims_other, other.dim());
  // A dimension of size 1 is multiplied by the sum along the other's.
  Dims stretched_a, stretched_b;
  for (size_t i = 0; i < summed_a.size(); ++i) {
    const int64_t a = input.sizes()[summed_a[i]], b = other.sizes()[summed_b[i]];
    FB_CHECK(a == b || a == 1 || b == 1, "contracted dimensions need to match, but dimension ",
             dims_input[i], " of shape ", input.sizes(), " and dimension ", dims_other[i],
             " of shape ", other.sizes(), " differ");
    if (a != b) (a == 1 ? stretched_b : stretched_a).push_back(a == 1 ? summed_b[i] : summed_a[i]);
  }
  if (!stretched_a.empty() || !stretched_b.empty()) {
    const auto summed = [](const Tensor& t, const Dims& dims) {
      return dims.empty() ? t : ops::sum(t, dims, true);
    };
    return ops::_tensordot(summed(input, stretched_a), summed(other, stretched_b), dims_input,
                           dims_other);
  }
  const Dims kept_a = others(input, summed_a);
  const Dims kept_b = others(other, summed_b);
  const int64_t depth = numel_of(sizes_at(input, summed_a));
  const Dims sizes = joined(sizes_at(input, kept_a), sizes_at(other, kept_b));
  const Tensor left = ops::reshape(ops::permute(input, joined(kept_a, summed_a)),
                                   {numel_of(sizes_at(input, kept_a)), depth});
  const Tensor right = ops::reshape(ops::permute(other, joined(summed_b, kept_b)),
                                    {depth, numel_of(sizes_at(other, kept_b))});
  return ops::reshape(ops::mm(left, right), sizes);
}

Tensor kron(const Tensor& input, const Tensor& other) {
  const int64_t ndim = std::max(input.dim(), other.dim());
  // Sizes padded to ndim with ones in front; elements of the two alternate: (a0, b0, a1, b1, ...).
  Dims a_sizes, b_sizes, sizes;
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t a_dim = i - (ndim - input.dim());
    const int64_t b_dim = i - (ndim - other.dim());
    const int64_t a_size = a_dim < 0 ? 1 : input.sizes()[a_dim];
    const int64_t b_size = b_dim < 0 ? 1 : other.sizes()[b_dim];
    a_sizes.push_back(a_size);
    a_sizes.push_back(1);
    b_sizes.push_back(1);
    b_sizes.push_back(b_size);
    sizes.push_back(a_size * b_size);
  }
  return ops::_unsafe_view(ops::mul(ops::reshape(input, a_sizes), ops::reshape(other, b_sizes)),
                           sizes);
}

Tensor cross(const Tensor& input, const Tensor& other, std::optional<int64_t> dim) {
  int64_t along = 0;
  if (dim) {
    along = *dim;
  } else {
    while (along < input.dim() && input.sizes()[along] != 3) ++along;
    FB_CHECK(along < input.dim(), "no dimension of size 3 in input of shape ", input.sizes());
    along -= input.dim();
  }
  return ops::linalg_cross(input, other, along);
}

Tensor compute::_cdist(const Tensor& x1, const Tensor& x2, double p) {
  check_points(x1, x2);
  const int64_t rows = x1.size(-2);
  const int64_t columns = x2.size(-2);
  const Dims batch =
      broadcast_shapes(x1.sizes().first(x1.dim() - 2), x2.sizes().first(x2.dim() - 2));
  const DType type = compute_type(x1.dtype());
  const auto dense = [&](const Tensor& x) {
    Dims sizes = batch;
    sizes.push_back(x.size(-2));
    sizes.push_back(x.size(-1));
    return contiguous(compute::expand(cast(x, type), sizes));
  };
  const Tensor a = dense(x1);
  const Tensor b = dense(x2);
  Dims sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  const Tensor out = make_tensor(sizes, type, x1.device());
  kernel::of(out).pairwise_distances(type, numel_of(batch), rows, columns, x1.size(-1), a.data(),
                                     b.data(), p, out.data());
  return cast(out, x1.dtype());
}

// |x - y|^2 = |x|^2 + |y|^2 - 2 x y as one product of matrices with two more columns.
Tensor compute::_euclidean_dist(const Tensor& x1, const Tensor& x2) {
  check_points(x1, x2);
  const Tensor squares1 = compute::sum(compute::mul(x1, x1), IntSpan{-1}, true);
  const Tensor squares2 = compute::sum(compute::mul(x2, x2), IntSpan{-1}, true);
  const Tensor left =
      compute::cat(std::vector{compute::mul(x1, -2), squares1, compute::ones_like(squares1)}, -1);
  const Tensor right = compute::cat(std::vector{x2, compute::ones_like(squares2), squares2}, -1);
  return compute::sqrt(compute::clamp_min(ops::matmul(left, transposed(right)), 0));
}

}  // namespace fb::ops
