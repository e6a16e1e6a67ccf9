// Rows of a table picked by number.
#include "ops/embedding.h"

#include "gen/ops/embedding.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/positions.h"

namespace fb::ops {

DType sum_type(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

Tensor index_numbers(const Tensor& indices, const char* name) {
  FB_CHECK(indices.dtype() == DType::kInt64 || indices.dtype() == DType::kInt32, "expected ", name,
           " of type int64 or int32, got ", indices.dtype());
  return contiguous(cast(indices, DType::kInt64));
}

kernel::RowTable table_of(const Tensor& rows) {
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
  const std::optional<int64_t> outside = first_bad_position(numbers, rows);
  FB_CHECK_INDEX(!outside, "index out of range: got ", *outside, " for a table of ", rows, " rows");
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
  kernel::of(result).take_rows(table_of(table), numbers.data_as<int64_t>(), numbers.numel(),
                               result.data());
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
  kernel::of(result).add_rows(
      {g.dtype(), g.data(), n, width, width},
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
  kernel::of(input).limit_norms(input, numbers, max_norm, norm_type);
  input.bump_version("embedding_renorm_");
}

Tensor reciprocal_counts(const Tensor& numbers, int64_t rows, DType type) {
  Tensor result = make_tensor({numbers.numel()}, type, numbers.device());
  kernel::of(result).reciprocal_counts(type, numbers.data_as<int64_t>(), numbers.numel(), rows,
                                       result.data());
  return result;
}

Tensor without_number(const Tensor& numbers, int64_t number) {
  Tensor result = copy_contiguous(numbers);
  kernel::of(result).replace_number(result.data_as<int64_t>(), result.numel(), number, -1);
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
  FB_CHECK_INDEX(weight.dim() != 0 || !padding_idx, "a 0-dimensional table has no padding row");
  check_table(weight);
  const int64_t padding = wrapped_padding(padding_idx, weight.size(0));
  if (max_norm) compute::embedding_renorm_(weight, input, *max_norm, norm_type);
  return ops::embedding(weight, input, padding, scale_grad_by_freq, sparse);
}

}  // namespace fb::ops
