#include "autograd/formulas/embedding.h"

#include "autograd/formula.h"
#include "autograd/mode.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/embedding.h"
#include "gen/ops/histogram.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

void refuse_sparse(bool sparse) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, !sparse,
              "gradients of the table as sparse tensors are not there yet; with sparse=False they "
              "are dense");
}

// What the gradient of each index is multiplied with: 0 for padding, 1 over the count where rows
// are scaled by frequency. Undefined if it is 1 for all.
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

// The gradient of the table as a composition of operators.
Tensor composed_bags(const Tensor& grad, const Tensor& indices, const Tensor& bags,
                     const Tensor& sizes, const Tensor& maximum_rows, int64_t rows,
                     bool scale_grad_by_freq, int64_t mode, const Tensor& per_sample_weights,
                     int64_t padding_idx) {
  constexpr int64_t kMean = 1, kMax = 2;
  const Tensor none = ops::zeros({rows, grad.size(1)}, grad.dtype());
  if (mode == kMax) {
    const Tensor found = ops::ge(maximum_rows, 0);
    return ops::scatter_add(none, 0, ops::clamp_min(maximum_rows, 0),
                            grad * ops::to_dtype(found, grad.dtype()));
  }
  Tensor picked = ops::index_select(grad, 0, bags);
  Tensor factor = factors(indices, rows, padding_idx, scale_grad_by_freq, grad.dtype());
  const auto multiply = [&](const Tensor& by) { factor = factor.defined() ? factor * by : by; };
  if (per_sample_weights.defined()) multiply(per_sample_weights);
  if (mode == kMean) {
    const Tensor counts = ops::to_dtype(ops::clamp_min(sizes, 1), grad.dtype());
    multiply(1.0 / ops::index_select(counts, 0, bags));
  }
  if (factor.defined()) picked = picked * ops::unsqueeze(factor, -1);
  return ops::index_add(none, 0, indices, picked);
}

}  // namespace

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t rows,
                          int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  refuse_sparse(sparse);
  if (is_complex(grad.dtype())) {
    const Tensor factor = factors(indices, rows, padding_idx, scale_grad_by_freq, grad.dtype());
    const Tensor scaled = factor.defined() ? grad * ops::unsqueeze(factor, -1) : grad;
    const int64_t width = grad.size(-1);
    return ops::index_add(ops::zeros({rows, width}, grad.dtype()), 0,
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
  refuse_sparse(sparse && needed[0]);
  const int64_t rows = weight.size(0);
  const int64_t padding = padding_idx ? (*padding_idx + rows) % rows : -1;
  const Tensor numbers = ops::to_dtype(indices, DType::kInt64);
  std::array<Tensor, 2> result;
  if (sizes.numel() == 0) {  // without bags, indices are in none
    if (needed[0]) result[0] = ops::zeros_like(weight);
    if (needed[1]) result[1] = ops::zeros_like(per_sample_weights);
    return result;
  }
  if (needed[0])
    result[0] =
        is_recording()
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
