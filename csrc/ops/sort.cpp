// Sorting along a dimension, and what follows from it: top k, medians, modes.
#include "gen/ops/sort.h"

#include "gen/ops/compare.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The input as rows along one dimension; also restores the shape of results with one or k values
// per row.
class Rows {
 public:
  Rows(const Tensor& input, int64_t dim) : input_(input), dim_(wrap_dim(dim, input.dim())) {
    n_ = input.dim() == 0 ? 1 : input.sizes()[dim_];
    FB_CHECK(n_ < kernel::kMaxSortLength, "expected fewer than 2^32 elements along dim ", dim_,
             ", got ", n_);
    data_ = contiguous(is_last() ? input : ops::transpose(input, dim_, -1));
  }

  int64_t n() const { return n_; }
  int64_t dim() const { return dim_; }
  Device device() const { return input_.device(); }
  int64_t count() const { return n_ == 0 ? 0 : input_.numel() / n_; }
  // The rows as a matrix, whatever the number of other dimensions.
  Tensor matrix() const { return as_view(data_, {count(), n_}, {n_, 1}); }
  kernel::SortRows view() const { return {input_.dtype(), data_.data(), count(), n_}; }

  // A tensor for k results per row, in the order of the rows; shaped() restores the input's shape.
  Tensor make(int64_t k, DType dtype) const {
    Dims sizes = data_.sizes().vec();
    if (!sizes.empty()) sizes.back() = k;
    return make_tensor(sizes, dtype, input_.device());
  }
  Tensor shaped(const Tensor& result) const {
    return is_last() ? result : contiguous(ops::transpose(result, dim_, -1));
  }
  // The same for as many results as elements, in the input's memory order.
  Tensor like_input(const Tensor& result) const {
    if (input_.is_contiguous()) return shaped(result);
    Tensor out = make_like(input_, result.dtype());
    copy_into(out, is_last() ? result : ops::transpose(result, dim_, -1));
    return out;
  }
  // The same for one result per row.
  Tensor squeezed(const Tensor& result, bool keepdim) const {
    if (input_.dim() == 0) return result;
    const Tensor kept = shaped(result);
    return keepdim ? kept : contiguous(ops::squeeze(kept, dim_));
  }

 private:
  bool is_last() const { return input_.dim() < 2 || dim_ == input_.dim() - 1; }

  Tensor input_;
  int64_t dim_;
  int64_t n_;
  Tensor data_;
};

void check_row_not_empty(const Tensor& input, const Rows& rows) {
  FB_CHECK_INDEX(rows.n() != 0, "expected reduction dim ", rows.dim(),
                 " to have non-zero size, got shape ", input.sizes());
}

std::tuple<Tensor, Tensor> first_k(const Rows& rows, DType dtype, int64_t k, bool descending) {
  Tensor values = rows.make(k, dtype);
  Tensor indices = rows.make(k, DType::kInt64);
  if (values.numel() > 0)
    kernel::of(values).sort_rows(rows.view(), k, descending, values.data(),
                                 indices.data_as<int64_t>());
  return {values, indices};
}

std::tuple<Tensor, Tensor> by_rank(const Tensor& input, const Rows& rows, const Tensor& ranks,
                                   bool keepdim) {
  Tensor values = rows.make(1, input.dtype());
  Tensor indices = rows.make(1, DType::kInt64);
  if (values.numel() > 0)
    kernel::of(values).select_rows(rows.view(), ranks.data_as<int64_t>(), values.data(),
                                   indices.data_as<int64_t>());
  return {rows.squeezed(values, keepdim), rows.squeezed(indices, keepdim)};
}

// How many NaNs each row has.
Tensor nan_counts(const Rows& rows) {
  Tensor counts = make_tensor({rows.count()}, DType::kInt64, rows.device());
  if (is_integral(rows.view().dtype))
    kernel::of(counts).fill(counts, int64_t{0});
  else
    counts = ops::sum(ops::isnan(rows.matrix()), IntSpan{1}, false, {});
  return counts;
}

std::tuple<Tensor, Tensor> median_of(const Tensor& input, int64_t dim, bool keepdim,
                                     bool ignore_nan) {
  const Rows rows(input, dim);
  check_row_not_empty(input, rows);
  // NaNs sort to the end: rank n - nans is the first of them.
  const Tensor ranks = nan_counts(rows);
  kernel::of(ranks).median_ranks(ranks.data_as<int64_t>(), rows.count(), rows.n(), ignore_nan);
  return by_rank(input, rows, ranks, keepdim);
}

Tensor median_of_all(const Tensor& input, bool ignore_nan) {
  if (input.numel() == 0) {
    Tensor result = make_tensor({}, input.dtype(), input.device());
    kernel::of(result).fill(result, std::numeric_limits<double>::quiet_NaN());
    return result;
  }
  const Tensor flat = as_view(contiguous(input), {input.numel()}, {1});
  return std::get<0>(median_of(flat, 0, false, ignore_nan));
}

}  // namespace

std::tuple<Tensor, Tensor> compute::sort(const Tensor& input, int64_t dim, bool descending) {
  const Rows rows(input, dim);
  const auto [values, indices] = first_k(rows, input.dtype(), rows.n(), descending);
  return {rows.like_input(values), rows.like_input(indices)};
}

std::tuple<Tensor, Tensor> compute::stable_sort(const Tensor& input, std::optional<bool>,
                                                int64_t dim, bool descending) {
  return compute::sort(input, dim, descending);
}

Tensor compute::argsort(const Tensor& input, int64_t dim, bool descending, bool) {
  const Rows rows(input, dim);
  Tensor indices = rows.make(rows.n(), DType::kInt64);
  if (indices.numel() > 0)
    kernel::of(indices).sort_rows(rows.view(), rows.n(), descending, nullptr,
                                  indices.data_as<int64_t>());
  return rows.like_input(indices);
}

Tensor msort(const Tensor& input) { return std::get<0>(ops::sort(input, 0, false)); }

std::tuple<Tensor, Tensor> compute::topk(const Tensor& input, int64_t k, int64_t dim, bool largest,
                                         bool) {
  const Rows rows(input, dim);
  FB_CHECK(k >= 0 && k <= rows.n(), "expected k between 0 and the ", rows.n(),
           " elements along dim ", rows.dim(), ", got ", k);
  const auto [values, indices] = first_k(rows, input.dtype(), k, largest);
  return {rows.shaped(values), rows.shaped(indices)};
}

std::tuple<Tensor, Tensor> compute::kthvalue(const Tensor& input, int64_t k, int64_t dim,
                                             bool keepdim) {
  const Rows rows(input, dim);
  check_row_not_empty(input, rows);
  FB_CHECK(k >= 1 && k <= rows.n(), "expected k between 1 and the ", rows.n(),
           " elements along dim ", rows.dim(), ", got ", k);
  const Tensor ranks = make_tensor({rows.count()}, DType::kInt64, input.device());
  kernel::of(ranks).fill(ranks, k - 1);
  return by_rank(input, rows, ranks, keepdim);
}

Tensor compute::median(const Tensor& input) { return median_of_all(input, false); }
Tensor compute::nanmedian(const Tensor& input) { return median_of_all(input, true); }
std::tuple<Tensor, Tensor> compute::median(const Tensor& input, int64_t dim, bool keepdim) {
  return median_of(input, dim, keepdim, false);
}
std::tuple<Tensor, Tensor> compute::nanmedian(const Tensor& input, int64_t dim, bool keepdim) {
  return median_of(input, dim, keepdim, true);
}

std::tuple<Tensor, Tensor> compute::mode(const Tensor& input, int64_t dim, bool keepdim) {
  const Rows rows(input, dim);
  check_row_not_empty(input, rows);
  const auto [sorted, positions] = first_k(rows, input.dtype(), rows.n(), false);
  Tensor values = rows.make(1, input.dtype());
  Tensor indices = rows.make(1, DType::kInt64);
  kernel::of(values).mode_rows({input.dtype(), sorted.data(), rows.count(), rows.n()},
                               positions.data_as<int64_t>(), values.data(),
                               indices.data_as<int64_t>());
  return {rows.squeezed(values, keepdim), rows.squeezed(indices, keepdim)};
}

}  // namespace fb::ops
