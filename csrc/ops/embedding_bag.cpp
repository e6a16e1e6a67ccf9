// Sums, means and maxima of bags of rows of a table.
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/embedding.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/embedding.h"
#include "ops/host.h"
#include "ops/output.h"
#include "ops/positions.h"

namespace fb::ops {
namespace {

enum BagMode : int64_t { kSum, kMean, kMax };

// Where the bags begin and end, the last end included.
Tensor bounds_of(const Tensor& offsets, int64_t indices, bool include_last_offset) {
  FB_CHECK(offsets.dim() == 1, "expected offsets of 1 dimension, got the shape ", offsets.sizes());
  FB_CHECK(!include_last_offset || offsets.numel() >= 1,
           "expected at least 1 offset with include_last_offset, got none");
  const Tensor starts = index_numbers(offsets, "offsets");
  const int64_t given = offsets.numel(), bags = given - (include_last_offset ? 1 : 0);
  const Tensor bounds = make_tensor({bags + 1}, DType::kInt64, starts.device());
  const kernel::BagOffsets found = kernel::of(bounds).bag_bounds(
      starts.data_as<int64_t>(), given, bags, indices, bounds.data_as<int64_t>());
  FB_CHECK(found.first == 0, "offsets[0] has to be 0, where the first bag starts, got ",
           found.first);
  FB_CHECK(found.last <= indices, "offsets[-1] can not be greater than the number of indices, ",
           indices, ", got ", found.last);
  FB_CHECK(found.ascending, "expected offsets that do not decrease");
  return bounds;
}

struct BagNumbers {
  Tensor of_index;  // the bag of each index
  Tensor sizes;     // of the bags, without padding

  BagNumbers(const Tensor& bounds, const Tensor& numbers)
      : of_index(make_tensor({numbers.numel()}, DType::kInt64, numbers.device())),
        sizes(make_tensor({bounds.numel() - 1}, DType::kInt64, bounds.device())) {
    kernel::of(sizes).number_bags(
        {numbers.data_as<int64_t>(), bounds.data_as<int64_t>(), sizes.numel()},
        of_index.data_as<int64_t>(), sizes.data_as<int64_t>());
  }
};

// The factor of each row before it is added; undefined if all are 1.
Tensor factors_of(const Tensor& bags, const Tensor& sizes, int64_t mode,
                  const Tensor& per_sample_weights, DType type) {
  if (per_sample_weights.defined()) return contiguous(cast(per_sample_weights, type));
  if (mode != kMean || sizes.numel() == 0) return {};  // without bags, indices are in none
  const Tensor result = make_tensor({bags.numel()}, type, bags.device());
  kernel::of(result).reciprocal_sizes(type, bags.data_as<int64_t>(), sizes.data_as<int64_t>(),
                                      bags.numel(), result.data());
  return result;
}

const void* data_or_null(const Tensor& t) { return t.defined() ? t.data() : nullptr; }

void check_arguments(const Tensor& weight, const Tensor& indices, int64_t mode,
                     const Tensor& per_sample_weights) {
  FB_CHECK(weight.dim() == 2, "expected weight to be a table of 2 dimensions, got the shape ",
           weight.sizes());
  FB_CHECK_INDEX(indices.dim() == 1, "expected indices of 1 dimension, got the shape ",
                 indices.sizes());
  FB_CHECK(mode >= kSum && mode <= kMax, "expected mode 0 (sum), 1 (mean) or 2 (max), got ", mode);
  FB_CHECK(!per_sample_weights.defined() || mode == kSum,
           "per_sample_weights are only allowed with mode 0 (sum), got mode ", mode);
  FB_CHECK(!per_sample_weights.defined() || per_sample_weights.sizes() == indices.sizes(),
           "expected per_sample_weights of the shape of the indices, ", indices.sizes(), ", got ",
           per_sample_weights.defined() ? per_sample_weights.sizes() : IntSpan());
}

void check_numbers(const Tensor& numbers, const Tensor& weight) {
  const kernel::Table& kernels = kernel::of(numbers);
  // Kernels of bags leave out what is no row. Without columns, this one looks at the numbers alone.
  if (kernels_check_positions(numbers.device()))
    return kernels.take_rows({weight.dtype(), weight.data(), weight.size(0), 0, 0},
                             numbers.data_as<int64_t>(), numbers.numel(), nullptr);
  const int64_t outside =
      kernels.find_outside(numbers.data_as<int64_t>(), numbers.numel(), 0, weight.size(0) - 1);
  FB_CHECK(outside == numbers.numel(), "index ", outside, " of input is ",
           host_number(as_view(numbers, {}, {}, numbers.offset() + outside)).to<int64_t>(),
           ", which is no row of a table of ", weight.size(0), " rows");
}

Tensor maxima_backward(const Tensor& gradient, const Tensor& rows, int64_t num_weights) {
  const DType type = sum_type(gradient.dtype());
  const int64_t width = gradient.size(1);
  const Tensor g = contiguous(cast(gradient, type)),
               result = ops::zeros({num_weights, width}, type, g.device());
  kernel::of(result).add_maxima(type, g.data(), rows.data_as<int64_t>(), g.numel(), width,
                                result.data());
  return result;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
    const Tensor& per_sample_weights, bool include_last_offset,
    std::optional<int64_t> padding_idx) {
  check_arguments(weight, indices, mode, per_sample_weights);
  Tensor numbers = index_numbers(indices, "indices");
  check_numbers(numbers, weight);
  const int64_t padding = wrapped_padding(padding_idx, weight.size(0));
  if (padding >= 0) numbers = without_number(numbers, padding);
  const Tensor bounds = bounds_of(offsets, numbers.numel(), include_last_offset);
  BagNumbers bags(bounds, numbers);
  const Tensor table = with_whole_rows(weight);
  const kernel::Bags of_numbers{numbers.data_as<int64_t>(), bounds.data_as<int64_t>(),
                                bags.sizes.numel()};
  const Dims sizes{bags.sizes.numel(), weight.size(1)};
  if (mode == kMax) {
    Tensor result = make_tensor(sizes, weight.dtype(), weight.device()),
           rows = make_tensor(sizes, DType::kInt64, weight.device());
    kernel::of(result).max_bags(table_of(table), of_numbers, result.data(),
                                rows.data_as<int64_t>());
    return {std::move(result), std::move(bags.of_index), std::move(bags.sizes), std::move(rows)};
  }
  const DType type = sum_type(weight.dtype());
  const Tensor factor = factors_of(bags.of_index, bags.sizes, mode, per_sample_weights, type);
  const Tensor sums = make_tensor(sizes, type, weight.device());
  kernel::of(sums).sum_bags(table_of(table), of_numbers, data_or_null(factor), sums.data());
  return {cast(sums, weight.dtype()), std::move(bags.of_index), std::move(bags.sizes),
          compute::zeros({of_numbers.count}, DType::kInt64, weight.device())};
}

Tensor compute::_embedding_bag_backward(const Tensor& gradient, const Tensor& indices,
                                        const Tensor& bags, const Tensor& sizes,
                                        const Tensor& maximum_rows, int64_t num_weights,
                                        bool scale_grad_by_freq, int64_t mode,
                                        const Tensor& per_sample_weights, int64_t padding_idx) {
  if (mode == kMax)
    return cast(maxima_backward(gradient, maximum_rows, num_weights), gradient.dtype());
  const DType type = sum_type(gradient.dtype());
  Tensor numbers = index_numbers(indices, "indices");
  const int64_t n = numbers.numel(), width = gradient.size(1);
  Tensor factor = factors_of(bags, sizes, mode, per_sample_weights, type);
  if (scale_grad_by_freq) {
    const Tensor counts = reciprocal_counts(numbers, num_weights, type);
    factor = factor.defined() ? ops::mul(factor, counts) : counts;
  }
  if (padding_idx >= 0) numbers = without_number(numbers, padding_idx);
  const Tensor g = contiguous(gradient);
  const Tensor result = make_tensor({num_weights, width}, type, gradient.device());
  kernel::of(result).add_rows(
      table_of(g), {numbers.data_as<int64_t>(), bags.data_as<int64_t>(), data_or_null(factor), n},
      result.data(), num_weights);
  return cast(result, gradient.dtype());
}

Tensor nn_functional_embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                                   std::optional<double> max_norm, double norm_type,
                                   bool scale_grad_by_freq, const std::string& mode, bool sparse,
                                   const Tensor& per_sample_weights, bool include_last_offset,
                                   std::optional<int64_t> padding_idx) {
  FB_CHECK_VALUE(mode == "sum" || mode == "mean" || mode == "max",
                 "expected mode to be 'sum', 'mean' or 'max', got '", mode, "'");
  const int64_t number = mode == "sum" ? kSum : mode == "mean" ? kMean : kMax;
  FB_CHECK_VALUE(number != kMax || !scale_grad_by_freq,
                 "mode 'max' does not scale gradients by frequency");
  FB_CHECK_VALUE(number != kMax || !sparse, "mode 'max' has no sparse gradients");
  FB_CHECK_VALUE(input.dim() == 1 || input.dim() == 2,
                 "expected an input of 1 or 2 dimensions, got the shape ", input.sizes());
  FB_CHECK_VALUE(!per_sample_weights.defined() || per_sample_weights.sizes() == input.sizes(),
                 "expected per_sample_weights of the shape of the input, ", input.sizes(), ", got ",
                 per_sample_weights.defined() ? per_sample_weights.sizes() : IntSpan());
  FB_CHECK_AS(ErrorKind::kNotImplemented, !per_sample_weights.defined() || number == kSum,
              "per_sample_weights are only allowed with mode 'sum', got mode '", mode, "'");
  Tensor numbers = input, starts = offsets, weights = per_sample_weights;
  if (input.dim() == 2) {
    FB_CHECK_VALUE(!offsets.defined(),
                   "expected no offsets with an input of 2 dimensions, where every row is a bag");
    const int64_t length = input.size(1);
    numbers = ops::reshape(input, {input.numel()});
    starts = length == 0 ? ops::zeros({input.size(0)}, DType::kInt64, input.device())
                         : ops::arange(0, input.numel(), length, DType::kInt64, input.device());
    if (weights.defined()) weights = ops::reshape(weights, {input.numel()});
    include_last_offset = false;
  }
  FB_CHECK_VALUE(starts.defined() && starts.dim() == 1,
                 "expected offsets of 1 dimension with an input of 1 dimension, got ",
                 starts.defined() ? "another shape" : "none");
  if (max_norm) compute::embedding_renorm_(weight, numbers, *max_norm, norm_type);
  return std::get<0>(ops::embedding_bag(weight, numbers, starts, scale_grad_by_freq, number, sparse,
                                        weights, include_last_offset, padding_idx));
}

}  // namespace fb::ops
