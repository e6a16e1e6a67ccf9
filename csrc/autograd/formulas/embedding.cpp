#include "autograd/formulas/embedding.h"

#include "autograd/formula.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/embedding.h"
#include "gen/ops/histogram.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"
#include "ops/advanced_index.h"

namespace fb::autograd::formula {
namespace {

void check_not_scaled(bool scale_grad_by_freq) {
  FB_CHECK(!scale_grad_by_freq, "scale_grad_by_freq not supported with sparse gradients");
}

// A sparse gradient of the table: the gradients of the indices, in their order, without padding.
Tensor sparse_rows(const Tensor& grad, const Tensor& indices, int64_t rows, int64_t padding_idx) {
  Tensor numbers = ops::reshape(indices, {indices.numel()});
  Tensor values = ops::reshape(grad, {indices.numel(), grad.size(-1)});
  if (padding_idx >= 0) {
    const Dims all{-1};
    const Tensor kept = ops::reshape(ops::nonzero(ops::ne(numbers, padding_idx)), all);
    numbers = ops::index_select(numbers, 0, kept);
    values = ops::index_select(values, 0, kept);
  }
  return ops::_sparse_coo_tensor(ops::unsqueeze(numbers, 0), values, {rows, grad.size(-1)});
}

// The factor of each index's gradient: 0 for padding, 1 / count if rows are scaled by frequency.
// Undefined if all are 1.
Tensor factors(const Tensor& indices, int64_t rows, int64_t padding_idx, bool scale_grad_by_freq,
               DType dtype) {
  Tensor result;
  if (padding_idx >= 0) result = ops::to_dtype(ops::ne(indices, padding_idx), dtype);
  if (!scale_grad_by_freq) return result;
  const Tensor numbers = ops::reshape(indices, {indices.numel()});
  const Tensor counts = ops::index_select(ops::bincount(numbers, {}, rows), 0, numbers);
  const Tensor each = 1.0 / ops::reshape(ops::to_dtype(counts, dtype), indices.sizes());
  return result.defined() ? result * each : each;
}

constexpr int64_t kMean = 1, kMax = 2;

// The gradient of each row that was summed into a bag, or averaged.
Tensor rows_of_bags(const Tensor& grad, const Tensor& bags, const Tensor& sizes, int64_t mode,
                    const Tensor& per_sample_weights) {
  const Tensor picked = ops::index_select(grad, 0, bags);
  if (per_sample_weights.defined()) return picked * ops::unsqueeze(per_sample_weights, -1);
  if (mode != kMean) return picked;
  const Tensor counts = ops::to_dtype(ops::clamp_min(sizes, 1), grad.dtype());
  return picked * ops::unsqueeze(1.0 / ops::index_select(counts, 0, bags), -1);
}

// The gradient of the table as a composition of operators.
Tensor composed_bags(const Tensor& grad, const Tensor& indices, const Tensor& bags,
                     const Tensor& sizes, const Tensor& maximum_rows, int64_t rows,
                     bool scale_grad_by_freq, int64_t mode, const Tensor& per_sample_weights,
                     int64_t padding_idx) {
  const Tensor none = ops::zeros({rows, grad.size(1)}, grad.dtype(), grad.device());
  if (mode == kMax) {
    const Tensor found = ops::ge(maximum_rows, 0);
    return ops::scatter_add(none, 0, ops::clamp_min(maximum_rows, 0),
                            grad * ops::to_dtype(found, grad.dtype()));
  }
  const Tensor factor = factors(indices, rows, padding_idx, scale_grad_by_freq, grad.dtype());
  const Tensor picked = rows_of_bags(grad, bags, sizes, mode, per_sample_weights);
  return ops::index_add(none, 0, indices,
                        factor.defined() ? picked * ops::unsqueeze(factor, -1) : picked);
}

}  // namespace

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t rows,
                          int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  if (sparse) {
    check_not_scaled(scale_grad_by_freq);
    return sparse_rows(grad, indices, rows, padding_idx);
  }
  if (is_complex(grad.dtype())) {
    const Tensor factor = factors(indices, rows, padding_idx, scale_grad_by_freq, grad.dtype());
    const Tensor scaled = factor.defined() ? grad * ops::unsqueeze(factor, -1) : grad;
    const int64_t width = grad.size(-1);
    return ops::index_add(ops::zeros({rows, width}, grad.dtype(), grad.device()), 0,
                          ops::reshape(indices, {indices.numel()}),
                          ops::reshape(scaled, {indices.numel(), width}));
  }
  return ops::_embedding_backward(grad, indices, rows, padding_idx, scale_grad_by_freq);
}

Tensor embedding_backward_gradient(const Tensor& grad, const Tensor& indices, int64_t padding_idx,
                                   bool scale_grad_by_freq) {
  const Tensor picked = ops::embedding(grad, indices);
  const Tensor factor =
      factors(indices, grad.size(0), padding_idx, scale_grad_by_freq, grad.dtype());
  return factor.defined() ? picked * ops::unsqueeze(factor, -1) : picked;
}

std::array<Tensor, 2> embedding_bag_backward(const Tensor& grad, const Tensor& weight,
                                             const Tensor& indices, const Tensor& bags,
                                             const Tensor& sizes, const Tensor& maximum_rows,
                                             bool scale_grad_by_freq, int64_t mode, bool sparse,
                                             const Tensor& per_sample_weights,
                                             std::optional<int64_t> padding_idx,
                                             std::array<bool, 2> needed) {
  const int64_t rows = weight.size(0);
  const int64_t padding = padding_idx ? (*padding_idx + rows) % rows : -1;
  const Tensor numbers = ops::to_dtype(indices, DType::kInt64);
  std::array<Tensor, 2> result;
  if (sizes.numel() == 0) {  // without bags, indices are in none
    if (needed[0]) result[0] = ops::zeros_like(weight);
    if (needed[1]) result[1] = ops::zeros_like(per_sample_weights);
    return result;
  }
  if (needed[0] && sparse) {
    check_not_scaled(scale_grad_by_freq);
    const Tensor picked = rows_of_bags(grad, bags, sizes, mode, per_sample_weights);
    result[0] = sparse_rows(picked, numbers, rows, padding);
  } else if (needed[0])
    result[0] =
        is_differentiated(grad, per_sample_weights)
            ? composed_bags(grad, numbers, bags, sizes, maximum_rows, rows, scale_grad_by_freq,
                            mode, per_sample_weights, padding)
            : ops::_embedding_bag_backward(grad, numbers, bags, sizes, maximum_rows, rows,
                                           scale_grad_by_freq, mode, per_sample_weights, padding);
  if (needed[1]) {
    const Dims last{-1};
    result[1] =
        ops::sum(ops::index_select(grad, 0, bags) * ops::index_select(weight, 0, numbers), last);
    const Tensor factor = factors(numbers, rows, padding, false, result[1].dtype());
    if (factor.defined()) result[1] = result[1] * factor;
  }
  return result;
}

}  // namespace fb::autograd::formula
