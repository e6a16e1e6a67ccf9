// Sparse tensors with other dimensions, and products of sparse matrices.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"
#include "ops/host.h"
#include "ops/sparse.h"

namespace fb::ops {
namespace {

// Sparse dimensions stay in front of the dense ones.
Tensor reordered(const Tensor& t, IntSpan order) {
  const SparseParts& parts = sparse_parts(t);
  const int64_t sparse_dim = parts.sparse_dim();
  Dims sizes, rows, columns{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const bool comes_first = static_cast<int64_t>(i) < sparse_dim;
    FB_CHECK(comes_first == (order[i] < sparse_dim),
             "sparse and dense dimensions cannot be exchanged; this tensor has ", sparse_dim,
             " sparse dimensions");
    sizes.push_back(t.sizes()[order[i]]);
    if (comes_first)
      rows.push_back(order[i]);
    else
      columns.push_back(order[i] - sparse_dim + 1);
  }
  return make_sparse(sizes,
                     {compute::index_select(parts.indices, 0, device_integers(rows, t.device())),
                      compute::permute(parts.values, columns), false});
}

// The blocks whose coordinate along a sparse dimension is `index`, without that coordinate.
Tensor selected_blocks(const Tensor& t, int64_t dim, int64_t index) {
  const SparseParts& parts = sparse_parts(t);
  const Tensor indices = contiguous(parts.indices);
  const Tensor picked = true_positions(compute::eq(compute::select(indices, 0, dim), index));
  Dims rows;
  for (int64_t d = 0; d < parts.sparse_dim(); ++d)
    if (d != dim) rows.push_back(d);
  const Tensor values = compute::index_select(parts.values, 0, picked);
  if (rows.empty()) return compute::sum(values, IntSpan{0}, false, t.dtype());
  Dims sizes = t.sizes().vec();
  sizes.erase(static_cast<size_t>(dim));
  const Tensor positions = compute::index_select(indices, 1, picked);
  return make_sparse(sizes, {compute::index_select(positions, 0, device_integers(rows, t.device())),
                             values, parts.is_coalesced});
}

void check_matrix(const Tensor& t) {
  FB_CHECK(t.dim() == 2 && (!is_sparse(t) || sparse_parts(t).dense_dim() == 0),
           "matrices expected, got shape ", t.sizes());
}

}  // namespace

Tensor sparse::t(const Tensor& input) {
  FB_CHECK(input.dim() <= 2 && sparse_parts(input).dense_dim() == 0,
           "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got ",
           sparse_parts(input).sparse_dim(), " sparse and ", sparse_parts(input).dense_dim(),
           " dense dimensions");
  return input.dim() < 2 ? input : sparse::transpose(input, 0, 1);
}

Tensor sparse::transpose(const Tensor& input, int64_t dim0, int64_t dim1) {
  Dims order;
  for (int64_t i = 0; i < input.dim(); ++i) order.push_back(i);
  if (!order.empty())
    std::swap(order[static_cast<size_t>(wrap_dim(dim0, input.dim()))],
              order[static_cast<size_t>(wrap_dim(dim1, input.dim()))]);
  return reordered(input, order);
}

Tensor sparse::permute(const Tensor& input, IntSpan dims) {
  FB_CHECK(static_cast<int64_t>(dims.size()) == input.dim(), "dims ", dims,
           " does not name every dimension of a tensor of shape ", input.sizes());
  return reordered(input, wrap_dims(dims, input.dim()));
}

Tensor sparse::select(const Tensor& input, int64_t dim, int64_t index) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor has no positions to select");
  const int64_t at = wrap_dim(dim, input.dim()), size = input.sizes()[at];
  FB_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for dimension ",
                 at, " of size ", size);
  const int64_t position = index < 0 ? index + size : index;
  const int64_t sparse_dim = sparse_parts(input).sparse_dim();
  if (at < sparse_dim) return selected_blocks(input, at, position);
  Dims sizes = input.sizes().vec();
  sizes.erase(static_cast<size_t>(at));
  const SparseParts& parts = sparse_parts(input);
  return make_sparse(sizes,
                     {parts.indices, compute::select(parts.values, at - sparse_dim + 1, position),
                      parts.is_coalesced});
}

std::vector<Tensor> sparse::unbind(const Tensor& input, int64_t dim) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor cannot be split");
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < input.size(dim); ++i) parts.push_back(sparse::select(input, dim, i));
  return parts;
}

Tensor sparse::mm(const Tensor& input, const Tensor& mat2) {
  check_matrix(input);
  check_matrix(mat2);
  FB_CHECK(input.size(1) == mat2.size(0), "shapes ", input.sizes(), " and ", mat2.sizes(),
           " cannot be multiplied: ", input.size(1), " columns against ", mat2.size(0), " rows");
  FB_CHECK(input.dtype() == mat2.dtype(), "expected both matrices to have the same dtype, got ",
           input.dtype(), " and ", mat2.dtype());
  if (!is_sparse(input))
    return compute::transpose(
        sparse::mm(sparse::transpose(mat2, 0, 1), compute::transpose(input, 0, 1)), 0, 1);
  if (is_sparse(mat2)) refuse_sparse("mm of two sparse matrices");
  const SparseParts& parts = sparse_parts(input);
  const Tensor rows = compute::select(parts.indices, 0, 0);
  const Tensor columns = compute::select(parts.indices, 0, 1);
  const Tensor products =
      compute::mul(compute::index_select(mat2, 0, columns), compute::unsqueeze(parts.values, 1));
  const Tensor result = compute::zeros_like(
      make_tensor({input.size(0), mat2.size(1)}, input.dtype(), input.device()));
  compute::index_add_(result, 0, rows, products, 1);
  return result;
}

Tensor compute::_sparse_mm(const Tensor& input, const Tensor& mat2) {
  FB_CHECK(is_sparse(input), "expected the first matrix to be sparse");
  return sparse::mm(input, mat2);
}

Tensor sparse::mv(const Tensor& input, const Tensor& vec) {
  FB_CHECK(input.dim() == 2 && vec.dim() == 1, "expected a matrix and a vector, got shapes ",
           input.sizes(), " and ", vec.sizes());
  if (is_sparse(vec)) refuse_sparse("mv with a sparse vector");
  return compute::select(sparse::mm(input, compute::unsqueeze(vec, 1)), 1, 0);
}

}  // namespace fb::ops
