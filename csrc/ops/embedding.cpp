// Rows of a table picked by number.
#include "cpu/embedding.h"

#include <algorithm>
#include <cmath>

#include "cpu/copy.h"
#include "gen/ops/embedding.h"
#include "ops/embedding.h"
#include "ops/output.h"

namespace fb::ops {

DType sum_type(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

Tensor index_numbers(const Tensor& indices, const char* name) {
  FB_CHECK(indices.dtype() == DType::kInt64 || indices.dtype() == DType::kInt32, "expected ", name,
           " of type int64 or int32, got ", indices.dtype());
  return contiguous(cast(indices, DType::kInt64));
}

int64_t find_outside(const Tensor& numbers, int64_t rows) {
  const int64_t* const at = numbers.data_as<int64_t>();
  const auto limit = static_cast<uint64_t>(rows);
  for (int64_t i = 0; i < numbers.numel(); ++i)
    if (static_cast<uint64_t>(at[i]) >= limit) return i;
  return -1;
}

cpu::Table table_of(const Tensor& rows) {
  return {rows.dtype(), rows.data(), rows.size(0), rows.size(1), rows.strides()[0]};
}

Tensor with_whole_rows(const Tensor& t) {
  return t.dim() == 2 && (t.strides()[1] == 1 || t.size(1) == 1) ? t : contiguous(t);
}

namespace {

void check_table(const Tensor& weight) {
  FB_CHECK(weight.dim() == 2, "expected weight to be a table of 2 dimensions, got the shape ",
           weight.sizes());
}

void check_numbers(const Tensor& numbers, int64_t rows) {
  const int64_t at = find_outside(numbers, rows);
  FB_CHECK_INDEX(at < 0, "index out of range: got ", at < 0 ? 0 : numbers.data_as<int64_t>()[at],
                 " for a table of ", rows, " rows");
}

double norm_of(const double* row, int64_t n, double p) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(row[i]);
    total =
        std::isinf(p) ? std::max(total, size) : total + (p == 2 ? size * size : std::pow(size, p));
  }
  if (std::isinf(p)) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace

Tensor compute::embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  check_table(weight);
  const Tensor numbers = index_numbers(indices, "indices");
  check_numbers(numbers, weight.size(0));
  Dims sizes = indices.sizes().vec();
  sizes.push_back(weight.size(1));
  Tensor result = make_tensor(sizes, weight.dtype(), weight.device());
  const Tensor table = with_whole_rows(weight);
  FB_KERNEL(take_rows)
  (table_of(table), numbers.data_as<int64_t>(), numbers.numel(), result.data());
  return result;
}

Tensor compute::_embedding_backward(const Tensor& gradient, const Tensor& indices,
                                    int64_t num_weights, int64_t padding_idx,
                                    bool scale_grad_by_freq) {
  Tensor numbers = index_numbers(indices, "indices");
  check_numbers(numbers, num_weights);
  const int64_t n = numbers.numel(), width = gradient.size(-1);
  const DType type = sum_type(gradient.dtype());
  Tensor factor;
  if (scale_grad_by_freq) factor = reciprocal_counts(numbers, num_weights, type);
  if (padding_idx >= 0) numbers = without_number(numbers, padding_idx);
  const Tensor g = contiguous(gradient);
  Tensor result = make_tensor({num_weights, width}, type, gradient.device());
  FB_KERNEL(add_rows)
  ({g.dtype(), g.data(), n, width, width},
   {numbers.data_as<int64_t>(), nullptr, factor.defined() ? factor.data() : nullptr, n},
   result.data(), num_weights);
  return cast(result, gradient.dtype());
}

void compute::embedding_renorm_(const Tensor& input, const Tensor& indices, double max_norm,
                                double norm_type) {
  check_table(input);
  check_writable(input);
  const Tensor numbers = copy_contiguous(index_numbers(indices, "indices"));
  check_numbers(numbers, input.size(0));
  int64_t* const first = numbers.data_as<int64_t>();
  std::sort(first, first + numbers.numel());
  const int64_t* const last = std::unique(first, first + numbers.numel());
  const int64_t width = input.size(1);
  const Tensor numbers_of_row = make_tensor({width}, DType::kFloat64, input.device());
  for (const int64_t* at = first; at != last; ++at) {
    const Tensor row =
        as_view(input, {width}, {input.strides()[1]}, input.offset() + *at * input.strides()[0]);
    cpu::copy(numbers_of_row, row);
    double* const x = numbers_of_row.data_as<double>();
    const double norm = norm_of(x, width, norm_type);
    if (!(norm > max_norm)) continue;
    // A little below the limit, as PyTorch's.
    const double scale = max_norm / (norm + 1e-7);
    for (int64_t i = 0; i < width; ++i) x[i] *= scale;
    cpu::copy(row, numbers_of_row);
  }
  input.bump_version("embedding_renorm_");
}

Tensor reciprocal_counts(const Tensor& numbers, int64_t rows, DType type) {
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  const int64_t* const at = numbers.data_as<int64_t>();
  for (int64_t i = 0; i < numbers.numel(); ++i) ++counts[at[i]];
  Tensor result = make_tensor({numbers.numel()}, type, numbers.device());
  visit_floating(type, [&](auto tag) {
    using A = typename decltype(tag)::type;
    for (int64_t i = 0; i < numbers.numel(); ++i)
      result.data_as<A>()[i] = A(1) / static_cast<A>(counts[at[i]]);
  });
  return result;
}

Tensor without_number(const Tensor& numbers, int64_t number) {
  Tensor result = copy_contiguous(numbers);
  int64_t* const at = result.data_as<int64_t>();
  std::replace(at, at + result.numel(), number, int64_t{-1});
  return result;
}

int64_t wrapped_padding(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  FB_CHECK_VALUE(*padding_idx >= -rows && *padding_idx < rows,
                 "expected padding_idx to be within the ", rows, " rows of the table, got ",
                 *padding_idx);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

Tensor nn_functional_embedding(const Tensor& input, const Tensor& weight,
                               std::optional<int64_t> padding_idx, std::optional<double> max_norm,
                               double norm_type, bool scale_grad_by_freq, bool sparse) {
  FB_CHECK_INDEX(weight.dim() != 0 || !padding_idx,
                 "a table of no dimensions has no row of padding");
  check_table(weight);
  const int64_t padding = wrapped_padding(padding_idx, weight.size(0));
  if (max_norm) compute::embedding_renorm_(weight, input, *max_norm, norm_type);
  return embedding(weight, input, padding, scale_grad_by_freq, sparse);
}

}  // namespace fb::ops
