// Derivatives of losses of scores for classes.
#include "autograd/formula.h"
#include "autograd/formulas/loss.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/loss.h"
#include "gen/ops/reduce.h"
#include "gen/ops/softmax.h"
#include "gen/ops/view.h"
#include "ops/loss_support.h"

namespace fb::autograd::formula {

using namespace ops;

namespace {

// The weight of each class, along dimension 1 of `ndim`.
Tensor along_classes(const Tensor& weight, int64_t ndim) {
  Dims sizes(static_cast<size_t>(ndim), 1);
  sizes[1] = weight.numel();
  return ops::reshape(weight, sizes);
}

// The weight of each class for each sample: cross entropy is -sum(soft_targets * log_softmax).
Tensor soft_targets_of(const Tensor& input, const Tensor& target, const Tensor& weight,
                       int64_t ignore_index, double smoothing) {
  const Tensor numbers = ops::to_dtype(target, DType::kInt64);
  const Tensor counts = ops::ne(numbers, ignore_index);
  const Tensor present = ops::unsqueeze(ops::where(counts, numbers, int64_t{0}), 1);
  const Tensor each = ops::to_dtype(ops::unsqueeze(counts, 1), input.dtype());
  const Tensor weights =
      weight ? along_classes(weight, input.dim())
             : ops::ones(Dims(static_cast<size_t>(input.dim()), 1), input.dtype(), input.device());
  const Tensor all = ops::expand(weights * each, input.sizes());
  const Tensor picked = ops::gather(all, 1, present) * (1 - smoothing);
  const double share = smoothing / static_cast<double>(input.sizes()[1]);
  return ops::scatter_add(all * share, 1, present, picked);
}

// The derivative of a multi-class margin loss, of each sample.
Tensor margin_slopes(const Tensor& input, const Tensor& target, int64_t p, double margin,
                     const Tensor& weight) {
  const Tensor present = ops::unsqueeze(target, 1);
  const Tensor own =
      ops::scatter_add(ops::zeros_like(input), 1, present,
                       ops::ones({input.sizes()[0], 1}, input.dtype(), input.device()));
  const Tensor excess =
      ops::clamp_min(margin - ops::gather(input, 1, present) + input, 0) * (1 - own);
  Tensor slopes = p == 1 ? ops::to_dtype(ops::gt(excess, 0), input.dtype()) : 2 * excess;
  if (weight) slopes = slopes * ops::unsqueeze(ops::index_select(weight, 0, target), 1);
  return (slopes - own * ops::sum(slopes, Dims{1}, true)) / input.sizes()[1];
}

}  // namespace

Tensor cross_entropy_backward(const Tensor& grad, const Tensor& input, const Tensor& target,
                              const Tensor& weight, const Tensor& statistics, int64_t ignore_index,
                              double label_smoothing, int64_t reduction) {
  if (!is_differentiated(grad, input, weight, statistics))
    return ops::cross_entropy_gradient(grad, input, target, weight, statistics, ignore_index,
                                       label_smoothing, reduction);
  if (input.dim() == 1) {
    const bool each = numbered_reduction(reduction) == Reduction::kNone;
    const Tensor batch = cross_entropy_backward(
        each ? ops::reshape(grad, {1}) : grad, ops::unsqueeze(input, 0), ops::reshape(target, {1}),
        weight, statistics, ignore_index, label_smoothing, reduction);
    return ops::squeeze(batch, 0);
  }
  const Tensor soft_targets = soft_targets_of(input, target, weight, ignore_index, label_smoothing);
  const Tensor by_scores =
      ops::softmax(input, 1) * ops::sum(soft_targets, Dims{1}, true) - soft_targets;
  switch (numbered_reduction(reduction)) {
    case Reduction::kMean: return grad / ops::select(statistics, 0, -1) * by_scores;
    case Reduction::kSum: return grad * by_scores;
    default: return ops::unsqueeze(grad, 1) * by_scores;
  }
}

Tensor soft_cross_entropy_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                   const Tensor& target, const Tensor& weight,
                                   const Tensor& statistics, double label_smoothing,
                                   int64_t reduction) {
  if (!is_differentiated(grad, input, target, weight, statistics))
    return ops::soft_cross_entropy_gradient(k, grad, input, target, weight, statistics,
                                            label_smoothing, reduction);
  const int64_t dim = input.dim() == 1 ? 0 : 1;
  const int64_t classes = input.sizes()[static_cast<size_t>(dim)];
  const Reduction how = numbered_reduction(reduction);
  Tensor g = how == Reduction::kNone ? ops::unsqueeze(grad, dim) : grad;
  if (how == Reduction::kMean) g = g * classes / input.numel();
  Tensor weights = weight;
  if (weight && dim == 1) weights = along_classes(weight, input.dim());
  if (k == 1) {
    const Tensor slope = ops::log_softmax(input, dim) * (label_smoothing - 1);
    return g * (weight ? slope * weights : slope);
  }
  Tensor soft_targets =
      target * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  if (weight) soft_targets = soft_targets * weights;
  return g * (ops::softmax(input, dim) * ops::sum(soft_targets, Dims{dim}, true) - soft_targets);
}

Tensor multi_margin_loss_backward(const Tensor& grad, const Tensor& input, const Tensor& target,
                                  int64_t p, double margin, const Tensor& weight,
                                  int64_t reduction) {
  if (!is_differentiated(grad, input, weight))
    return ops::multi_margin_gradient(grad, input, target, p, margin, weight, reduction);
  const bool single = input.dim() < 2;
  const Tensor scores = single ? ops::reshape(input, {1, input.numel()}) : input;
  const Tensor slopes = margin_slopes(scores, ops::reshape(target, {scores.sizes()[0]}), p, margin,
                                      weight ? ops::reshape(weight, {weight.numel()}) : weight);
  if (single) return grad * ops::reshape(slopes, input.sizes());
  switch (numbered_reduction(reduction)) {
    case Reduction::kMean: return grad / input.sizes()[0] * slopes;
    case Reduction::kSum: return grad * slopes;
    default: return ops::unsqueeze(grad, 1) * slopes;
  }
}

Tensor multilabel_margin_loss_backward(const Tensor& grad, const Tensor& input,
                                       const Tensor& target, int64_t reduction) {
  if (!is_differentiated(grad, input))
    return ops::multilabel_margin_gradient(grad, input, target, reduction);
  // The slopes are piecewise constant in the scores.
  const Tensor slopes =
      ops::multilabel_margin_gradient(ops::ones_like(grad), input, target, reduction);
  const bool each = numbered_reduction(reduction) == Reduction::kNone && input.dim() == 2;
  return (each ? ops::unsqueeze(grad, 1) : grad) * slopes;
}

Tensor nll_loss_transpose(const Tensor& grad, const Tensor& target, const Tensor& weight,
                          int64_t ignore_index, int64_t reduction) {
  return std::get<0>(ops::_nll_loss(grad, target, weight, ignore_index, reduction));
}

}  // namespace fb::autograd::formula
