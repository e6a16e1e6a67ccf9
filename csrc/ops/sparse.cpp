// Sparse tensors: construction, parts, conversion to dense ones.
#include "ops/sparse.h"

#include "autograd/history.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"

namespace fb::ops {
namespace {

IntSpan sparse_sizes(const Tensor& t) {
  return t.sizes().first(static_cast<size_t>(sparse_parts(t).sparse_dim()));
}
IntSpan dense_sizes(const Tensor& t) { return after(t.sizes(), sparse_parts(t).sparse_dim()); }

void check_is_sparse(const Tensor& t) {
  FB_CHECK(is_sparse(t), "expected sparse coordinate tensor layout but got Strided");
}

void check_parts(const Tensor& indices, const Tensor& values, IntSpan size) {
  FB_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  FB_CHECK(values.dim() > 0, "values must have at least 1 dimension, for the blocks");
  FB_CHECK(indices.size(1) == values.size(0),
           "indices and values must have same nnz, but got nnz from indices: ", indices.size(1),
           ", nnz from values: ", values.size(0));
  const int64_t sparse_dim = indices.size(0), dense_dim = values.dim() - 1;
  FB_CHECK(static_cast<int64_t>(size.size()) == sparse_dim + dense_dim,
           "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
           ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  Dims expected{values.size(0)};
  for (const int64_t s : after(size, sparse_dim)) expected.push_back(s);
  FB_CHECK(values.sizes() == expected, "values has incorrect size, expected ", expected, ", got ",
           values.sizes());
}

void check_positions(const Tensor& indices, IntSpan size) {
  const int64_t n = indices.size(1);
  for (int64_t d = 0; d < indices.size(0); ++d) {
    const int64_t at =
        kernel::of(indices).find_outside(indices.data_as<int64_t>() + d * n, n, 0, size[d] - 1);
    if (at == n) continue;
    const auto index =
        host_number(as_view(indices, {}, {}, indices.offset() + d * n + at)).to<int64_t>();
    FB_CHECK(index >= 0, "found negative index ", index, " for dim ", d);
    fail(ErrorKind::kRuntime, "size is inconsistent with indices: for dim ", d, ", size is ",
         size[d], " but found index ", index);
  }
}

Tensor make_numbers(int64_t n, Device device) { return make_tensor({n}, DType::kInt64, device); }

// Positions as coordinates.
Tensor indices_of(const Tensor& positions, IntSpan sizes) {
  const int64_t n = positions.numel();
  const Tensor result =
      make_tensor({static_cast<int64_t>(sizes.size()), n}, DType::kInt64, positions.device());
  kernel::of(result).locate_positions(positions.data_as<int64_t>(), n, sizes,
                                      result.data_as<int64_t>());
  return result;
}

Tensor zero_values(int64_t count, IntSpan block, DType dtype, Device device) {
  Dims sizes{count};
  for (const int64_t size : block) sizes.push_back(size);
  const Tensor result = make_tensor(sizes, dtype, device);
  kernel::of(result).fill(result, 0);
  return result;
}

}  // namespace

int64_t position_count(const Tensor& t) { return numel_of(sparse_sizes(t)); }

Tensor flat_positions(const Tensor& t) {
  const SparseParts& parts = sparse_parts(t);
  const Tensor indices = contiguous(parts.indices);
  const int64_t n = parts.count();
  const IntSpan sizes = sparse_sizes(t);
  check_positions(indices, sizes);  // the user may change _indices()
  if (sizes.size() == 1) return as_view(indices, {n}, {1}, indices.offset());
  const Tensor result = make_numbers(n, indices.device());
  kernel::of(result).number_positions(indices.data_as<int64_t>(), n, sizes,
                                      result.data_as<int64_t>());
  return result;
}

Tensor coalesced(const Tensor& t) {
  const SparseParts& parts = sparse_parts(t);
  if (parts.is_coalesced) return t;
  const Tensor numbers = flat_positions(t);
  const Tensor positions = make_numbers(numbers.numel(), t.device());
  const Tensor groups = make_numbers(numbers.numel(), t.device());
  const int64_t count = kernel::of(numbers).group_positions(
      numbers.data_as<int64_t>(), numbers.numel(), position_count(t), positions.data_as<int64_t>(),
      groups.data_as<int64_t>());
  const Tensor values = zero_values(count, dense_sizes(t), t.dtype(), t.device());
  compute::index_add_(values, 0, groups, parts.values, 1);
  return make_sparse(t.sizes(),
                     {indices_of(first_of(positions, count), sparse_sizes(t)), values, true});
}

Tensor as_rows(const Tensor& dense, const Tensor& like) {
  Dims sizes{position_count(like)};
  for (const int64_t size : dense_sizes(like)) sizes.push_back(size);
  return ops::reshape(dense, sizes);
}

void add_sparse(const Tensor& dense, const Tensor& sparse, const Scalar& alpha) {
  check_writable(dense);
  const Tensor target = contiguous(dense);
  compute::index_add_(as_rows(target, sparse), 0, flat_positions(sparse),
                      sparse_parts(sparse).values, alpha);
  copy_into(dense, target);
}

Tensor first_of(const Tensor& numbers, int64_t count) { return as_view(numbers, {count}, {1}); }

Tensor true_positions(const Tensor& mask) {
  const Tensor columns = kernel::of(mask).nonzero_columns(contiguous(mask));
  return as_view(columns, {columns.numel()}, {1});
}

Tensor with_values(const Tensor& like, Tensor values) {
  const SparseParts& parts = sparse_parts(like);
  return make_sparse(like.sizes(), {parts.indices, std::move(values), parts.is_coalesced});
}

void become_sparse(const Tensor& t, const Tensor& value) {
  FB_CHECK(can_cast(value.dtype(), t.dtype()), "a result of type ", value.dtype(),
           " can't be cast to the desired output type ", t.dtype());
  FB_CHECK(value.sizes() == t.sizes(), "the result's shape ", value.sizes(),
           " is not the shape of the tensor to change, ", t.sizes());
  SparseParts parts = sparse_parts(value);
  parts.values = cast(parts.values, t.dtype());
  sparse_parts(t) = std::move(parts);
}

// --- operators

Tensor compute::_sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntSpan size,
                                   bool is_coalesced) {
  check_parts(indices, values, size);
  const Tensor positions = contiguous(cast(indices, DType::kInt64));
  check_positions(positions, size);
  Tensor result =
      make_sparse(size, {autograd::detached(positions), autograd::detached(values), false});
  if (is_coalesced) {
    const Tensor numbers = flat_positions(result);
    FB_CHECK(kernel::of(numbers).all_rising(numbers.data_as<int64_t>(), numbers.numel()),
             "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
    sparse_parts(result).is_coalesced = true;
  }
  return result;
}

Tensor compute::_indices(const Tensor& input) {
  check_is_sparse(input);
  return autograd::detached(sparse_parts(input).indices);
}
Tensor compute::_values(const Tensor& input) {
  check_is_sparse(input);
  return autograd::detached(sparse_parts(input).values);
}
Tensor compute::indices(const Tensor& input) {
  check_is_sparse(input);
  FB_CHECK(sparse_parts(input).is_coalesced,
           "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return autograd::detached(sparse_parts(input).indices);
}
Tensor compute::values(const Tensor& input) {
  check_is_sparse(input);
  FB_CHECK(sparse_parts(input).is_coalesced,
           "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return autograd::detached(sparse_parts(input).values);
}

int64_t _nnz(const Tensor& input) {
  check_is_sparse(input);
  return sparse_parts(input).count();
}
int64_t sparse_dim(const Tensor& input) {
  return is_sparse(input) ? sparse_parts(input).sparse_dim() : 0;
}
int64_t dense_dim(const Tensor& input) {
  return is_sparse(input) ? sparse_parts(input).dense_dim() : input.dim();
}
bool is_coalesced(const Tensor& input) {
  check_is_sparse(input);
  return sparse_parts(input).is_coalesced;
}

Tensor coalesce(const Tensor& input) {
  check_is_sparse(input);
  return sparse_parts(input).is_coalesced ? input : ops::_coalesce(input);
}
Tensor compute::_coalesce(const Tensor& input) {
  check_is_sparse(input);
  return coalesced(input);
}

Tensor to_dense(const Tensor& input, std::optional<DType> dtype, std::optional<bool> masked_grad) {
  const Tensor dense = is_sparse(input) ? ops::_to_dense(input, masked_grad.value_or(true)) : input;
  return dtype ? ops::to_dtype(dense, *dtype) : dense;
}
Tensor compute::_to_dense(const Tensor& input, bool) {
  check_is_sparse(input);
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  kernel::of(result).fill(result, 0);
  add_sparse(result, input, 1);
  return result;
}

Tensor compute::_to_sparse(const Tensor& input, int64_t sparse_dim) {
  FB_CHECK(sparse_dim >= 0 && sparse_dim <= input.dim(), "sparse_dim must be in [0,", input.dim(),
           "], but ", sparse_dim, " is given");
  FB_CHECK(sparse_dim > 0 || input.dim() == 0,
           "sparse_dim must be above 0 for a tensor that has dimensions");
  const IntSpan outer = input.sizes().first(static_cast<size_t>(sparse_dim));
  const Tensor dense = copy_contiguous(input);
  const int64_t count = numel_of(outer), block = count == 0 ? 0 : dense.numel() / count;
  const Tensor is_set = ops::reshape(compute::ne(dense, 0), {count, block});
  const Tensor positions = true_positions(compute::any(is_set, IntSpan{1}, false));
  Dims table{count};
  for (const int64_t size : after(input.sizes(), sparse_dim)) table.push_back(size);
  return make_sparse(input.sizes(),
                     {indices_of(positions, outer),
                      compute::index_select(ops::reshape(dense, table), 0, positions), true});
}

Tensor compute::sparse_mask(const Tensor& input, const Tensor& mask) {
  FB_CHECK(is_sparse(mask), "expected mask to be a sparse tensor, got a strided one");
  FB_CHECK(input.sizes() == mask.sizes(), "operands have incompatible sizes; self has size ",
           input.sizes(), " but mask has size ", mask.sizes());
  const Tensor dense = is_sparse(input) ? compute::_to_dense(input, true) : input;
  return with_values(
      mask, compute::index_select(as_rows(contiguous(dense), mask), 0, flat_positions(mask)));
}

}  // namespace fb::ops
