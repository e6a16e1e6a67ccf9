// Sparse tensors made, taken apart and made dense.
#include "ops/sparse.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "autograd/history.h"
#include "cpu/copy.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"

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
  FB_CHECK(values.dim() > 0, "values must have a dimension at least, for the blocks");
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

void check_places(const Tensor& indices, IntSpan size) {
  const int64_t n = indices.size(1);
  for (int64_t d = 0; d < indices.size(0); ++d) {
    const int64_t* const row = indices.data_as<int64_t>() + d * n;
    for (int64_t i = 0; i < n; ++i) {
      FB_CHECK(row[i] >= 0, "found negative index ", row[i], " for dim ", d);
      FB_CHECK(row[i] < size[d], "size is inconsistent with indices: for dim ", d, ", size is ",
               size[d], " but found index ", row[i]);
    }
  }
}

// The places that occur, sorted, and for each block the number of its place among them.
struct Groups {
  std::vector<int64_t> places;
  Tensor of_block;

  Groups(const Tensor& numbers, int64_t place_count)
      : of_block(make_tensor({numbers.numel()}, DType::kInt64, numbers.device())) {
    // A bit for every place is quicker than sorting as long as there are not many more of them.
    constexpr int64_t kPlacesPerBlock = 512;
    if (place_count / kPlacesPerBlock < numbers.numel())
      mark(numbers, place_count);
    else
      sort(numbers);
  }

 private:
  void mark(const Tensor& numbers, int64_t place_count) {
    const int64_t* const at = numbers.data_as<int64_t>();
    const auto n = static_cast<size_t>(numbers.numel());
    std::vector<uint64_t> words(static_cast<size_t>(place_count) / 64 + 1);
    for (size_t i = 0; i < n; ++i) words[static_cast<size_t>(at[i]) / 64] |= bit_of(at[i]);
    std::vector<int64_t> before(words.size());  // marked places before those of each word
    for (size_t w = 0; w < words.size(); ++w) {
      before[w] = static_cast<int64_t>(places.size());
      for (uint64_t rest = words[w]; rest; rest &= rest - 1)
        places.push_back(static_cast<int64_t>(w) * 64 + std::countr_zero(rest));
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t w = static_cast<size_t>(at[i]) / 64;
      of_block.data_as<int64_t>()[i] = before[w] + std::popcount(words[w] & (bit_of(at[i]) - 1));
    }
  }
  static uint64_t bit_of(int64_t place) { return uint64_t{1} << (place % 64); }

  void sort(const Tensor& numbers) {
    const int64_t* const at = numbers.data_as<int64_t>();
    std::vector<int64_t> order(static_cast<size_t>(numbers.numel()));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::ranges::sort(order, {}, [&](int64_t i) { return at[i]; });
    for (const int64_t i : order) {
      if (places.empty() || places.back() != at[i]) places.push_back(at[i]);
      of_block.data_as<int64_t>()[i] = static_cast<int64_t>(places.size()) - 1;
    }
  }
};

// Places as coordinates.
Tensor indices_of(const std::vector<int64_t>& places, IntSpan sizes, Device device) {
  const auto n = static_cast<int64_t>(places.size());
  const Tensor result = make_tensor({static_cast<int64_t>(sizes.size()), n}, DType::kInt64, device);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = places[static_cast<size_t>(i)];
    for (size_t d = sizes.size(); d-- > 0;) {
      result.data_as<int64_t>()[static_cast<int64_t>(d) * n + i] = rest % sizes[d];
      rest /= sizes[d];
    }
  }
  return result;
}

Tensor zero_values(int64_t count, IntSpan block, DType dtype, Device device) {
  Dims sizes{count};
  for (const int64_t size : block) sizes.push_back(size);
  const Tensor result = make_tensor(sizes, dtype, device);
  cpu::fill(result, 0);
  return result;
}

}  // namespace

int64_t place_count(const Tensor& t) { return numel_of(sparse_sizes(t)); }

Tensor place_numbers(const Tensor& t) {
  const SparseParts& parts = sparse_parts(t);
  const Tensor indices = contiguous(parts.indices);
  const int64_t n = parts.count();
  const IntSpan sizes = sparse_sizes(t);
  check_places(indices, sizes);  // whoever has _indices() can change them
  if (sizes.size() == 1) return as_view(indices, {n}, {1}, indices.offset());
  const Tensor result = make_tensor({n}, DType::kInt64, indices.device());
  int64_t* const numbers = result.data_as<int64_t>();
  std::fill(numbers, numbers + n, int64_t{0});
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t* const row = indices.data_as<int64_t>() + static_cast<int64_t>(d) * n;
    for (int64_t i = 0; i < n; ++i) numbers[i] = numbers[i] * sizes[d] + row[i];
  }
  return result;
}

Tensor coalesced(const Tensor& t) {
  const SparseParts& parts = sparse_parts(t);
  if (parts.is_coalesced) return t;
  const Groups groups(place_numbers(t), place_count(t));
  const auto count = static_cast<int64_t>(groups.places.size());
  const Tensor values = zero_values(count, dense_sizes(t), t.dtype(), t.device());
  compute::index_add_(values, 0, groups.of_block, parts.values, 1);
  return make_sparse(t.sizes(),
                     {indices_of(groups.places, sparse_sizes(t), t.device()), values, true});
}

Tensor as_places(const Tensor& dense, const Tensor& like) {
  Dims sizes{place_count(like)};
  for (const int64_t size : dense_sizes(like)) sizes.push_back(size);
  return reshape(dense, sizes);
}

void add_sparse(const Tensor& dense, const Tensor& sparse, const Scalar& alpha) {
  check_writable(dense);
  const Tensor target = contiguous(dense);
  compute::index_add_(as_places(target, sparse), 0, place_numbers(sparse),
                      sparse_parts(sparse).values, alpha);
  copy_into(dense, target);
}

Tensor numbers_of(std::span<const int64_t> list, Device device) {
  const Tensor result = make_tensor({static_cast<int64_t>(list.size())}, DType::kInt64, device);
  std::ranges::copy(list, result.data_as<int64_t>());
  return result;
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
  const Tensor places = contiguous(cast(indices, DType::kInt64));
  check_places(places, size);
  Tensor result =
      make_sparse(size, {autograd::detached(places), autograd::detached(values), false});
  if (is_coalesced) {
    const Tensor numbers = place_numbers(result);
    const int64_t* const at = numbers.data_as<int64_t>();
    FB_CHECK(std::is_sorted(at, at + numbers.numel(), std::less_equal<>()),
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
  return sparse_parts(input).is_coalesced ? input : _coalesce(input);
}
Tensor compute::_coalesce(const Tensor& input) {
  check_is_sparse(input);
  return coalesced(input);
}

Tensor to_dense(const Tensor& input, std::optional<DType> dtype, std::optional<bool> masked_grad) {
  const Tensor dense = is_sparse(input) ? _to_dense(input, masked_grad.value_or(true)) : input;
  return dtype ? to_dtype(dense, *dtype) : dense;
}
Tensor compute::_to_dense(const Tensor& input, bool) {
  check_is_sparse(input);
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  cpu::fill(result, 0);
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
  std::vector<int64_t> places;
  const Tensor is_set = compute::ne(dense, 0);
  const bool* const data = is_set.data_as<bool>();
  for (int64_t i = 0; i < count; ++i)
    if (std::find(data + i * block, data + (i + 1) * block, true) != data + (i + 1) * block)
      places.push_back(i);
  Dims table{count};
  for (const int64_t size : after(input.sizes(), sparse_dim)) table.push_back(size);
  return make_sparse(
      input.sizes(),
      {indices_of(places, outer, input.device()),
       compute::index_select(reshape(dense, table), 0, numbers_of(places, input.device())), true});
}

Tensor compute::sparse_mask(const Tensor& input, const Tensor& mask) {
  FB_CHECK(is_sparse(mask), "expected mask to be a sparse tensor, got a strided one");
  FB_CHECK(input.sizes() == mask.sizes(), "operands have incompatible sizes; self has size ",
           input.sizes(), " but mask has size ", mask.sizes());
  const Tensor dense = is_sparse(input) ? compute::_to_dense(input, true) : input;
  return with_values(
      mask, compute::index_select(as_places(contiguous(dense), mask), 0, place_numbers(mask)));
}

}  // namespace fb::ops
