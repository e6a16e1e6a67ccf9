// Element-wise losses as users call them: reductions, weights, operands of different shapes.
#include <array>
#include <cmath>
#include <numbers>

#include "core/warning.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/info.h"
#include "gen/ops/loss.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/loss_support.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

using Pair = std::array<Tensor, 2>;
using Triple = std::array<Tensor, 3>;

Pair alike(const Tensor& x, const Tensor& y) {
  Pair operands{x, y};
  make_alike(operands);
  return operands;
}
Triple alike(const Tensor& x, const Tensor& y, const Tensor& z) {
  Triple operands{x, y, z};
  make_alike(operands);
  return operands;
}

// Broadcasting is rarely meant here: a column of predictions and a row of targets make a matrix.
void warn_of_broadcasting(const Tensor& input, const Tensor& target) {
  if (input.sizes() == target.sizes()) return;
  warn("Using a target size (", SizeOf{target.sizes()}, ") that is different to the input size (",
       SizeOf{input.sizes()},
       "). This will likely lead to incorrect results due to broadcasting. Please ensure they have "
       "the same size.");
}

void check_weight(const Tensor& weight, const Tensor& input) {
  FB_CHECK_VALUE(weight.sizes() == input.sizes(),
                 "Weights and input must have the same size. They have shapes ", weight.sizes(),
                 " and ", input.sizes());
}

// Weighted losses. The mean divides by the number of elements, or by the sum of the weights.
Tensor weighted(const Tensor& losses, const Tensor& weight, Reduction reduction, bool by_weight) {
  const Tensor product = ops::mul(losses, weight);
  if (reduction == Reduction::kMean && by_weight)
    return ops::div(ops::sum_all(product), ops::sum_all(weight));
  return reduced(product, reduction);
}

Tensor logits_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                   const Tensor& pos_weight, Reduction reduction) {
  FB_CHECK_VALUE(target.sizes() == input.sizes(), "Target size (", SizeOf{target.sizes()},
                 ") must be the same as input size (", SizeOf{input.sizes()}, ")");
  FB_CHECK(is_floating(target.dtype()), "expected a floating-point target, got ", target.dtype());
  const int64_t inner = number_of(weight ? Reduction::kNone : reduction);
  Tensor losses;
  if (pos_weight) {
    const auto [x, y, z] = alike(input, target, pos_weight);
    losses = ops::_weighted_logits_loss(x, y, z, inner);
  } else {
    const auto [x, y] = alike(input, target);
    losses = ops::_logits_loss(x, y, inner);
  }
  return weight ? weighted(losses, weight, reduction, false) : losses;
}

Tensor divergence(const Tensor& input, const Tensor& target, Reduction reduction, bool log_target) {
  const auto [x, y] = alike(input, target);
  return ops::_kl_div(x, y, log_target, number_of(reduction));
}

// Stirling's approximation of log(target!), 0 up to 1.
Tensor stirling(const Tensor& target) {
  const Tensor term = ops::add(ops::sub(ops::mul(target, ops::log(target)), target),
                               ops::mul(ops::log(ops::mul(target, 2 * std::numbers::pi)), 0.5));
  return ops::where(ops::le(target, 1), Operand(0.0), Operand(term));
}

Tensor poisson_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                    double eps, Reduction reduction) {
  const auto [x, y] = alike(input, target);
  const Reduction inner = full ? Reduction::kNone : reduction;
  const Tensor losses = ops::_poisson_loss(x, y, log_input, eps, number_of(inner));
  return full ? reduced(ops::add(losses, stirling(y)), reduction) : losses;
}

Tensor hinge_loss(const Tensor& input, const Tensor& target, double margin, Reduction reduction) {
  const auto [x, y] = alike(input, target);
  return ops::_hinge_loss(x, y, margin, number_of(reduction));
}

Tensor ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                    Reduction reduction) {
  FB_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
           "All input tensors should have same dimension but got sizes: input1: ",
           SizeOf{input1.sizes()}, ", input2: ", SizeOf{input2.sizes()},
           ", target: ", SizeOf{target.sizes()});
  const auto [x, y, z] = alike(input1, target, input2);
  return ops::_ranking_loss(x, y, z, margin, number_of(reduction));
}

}  // namespace

Tensor composed::nn_functional_mse_loss(const Tensor& input, const Tensor& target,
                                        std::optional<bool> size_average,
                                        std::optional<bool> reduce, const std::string& reduction,
                                        const Tensor& weight) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  warn_of_broadcasting(input, target);
  const auto [x, y] = alike(input, target);
  if (!weight) return ops::_mse_loss(x, y, number_of(how));
  check_weight(weight, input);
  return weighted(ops::_mse_loss(x, y, number_of(Reduction::kNone)), weight, how, true);
}

Tensor composed::nn_functional_l1_loss(const Tensor& input, const Tensor& target,
                                       std::optional<bool> size_average, std::optional<bool> reduce,
                                       const std::string& reduction, const Tensor& weight) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  warn_of_broadcasting(input, target);
  const Operand operands[] = {input, target};
  Tensor losses;
  if (!is_floating(ops::result_type(operands))) {
    losses = ops::abs(ops::sub(input, target));
    if (!weight) return reduced(losses, how);
  } else {
    const auto [x, y] = alike(input, target);
    losses = ops::_l1_loss(x, y, number_of(weight ? Reduction::kNone : how));
  }
  if (!weight) return losses;
  check_weight(weight, input);
  return weighted(losses, weight, how, true);
}

Tensor composed::nn_functional_smooth_l1_loss(const Tensor& input, const Tensor& target,
                                              std::optional<bool> size_average,
                                              std::optional<bool> reduce,
                                              const std::string& reduction, double beta) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  warn_of_broadcasting(input, target);
  FB_CHECK(beta >= 0, "expected beta >= 0, got ", beta);
  const auto [x, y] = alike(input, target);
  if (beta == 0) return ops::_l1_loss(x, y, number_of(how));
  return ops::_smooth_l1_loss(x, y, beta, number_of(how));
}

Tensor composed::nn_functional_huber_loss(const Tensor& input, const Tensor& target,
                                          const std::string& reduction, double delta,
                                          const Tensor& weight) {
  const Reduction how = read_reduction(reduction, {}, {});
  warn_of_broadcasting(input, target);
  FB_CHECK(delta > 0, "expected delta > 0, got ", delta);
  const auto [x, y] = alike(input, target);
  if (!weight) return ops::_huber_loss(x, y, delta, number_of(how));
  check_weight(weight, input);
  return weighted(ops::_huber_loss(x, y, delta, number_of(Reduction::kNone)), weight, how, false);
}

Tensor composed::nn_functional_binary_cross_entropy(const Tensor& input, const Tensor& target,
                                                    const Tensor& weight,
                                                    std::optional<bool> size_average,
                                                    std::optional<bool> reduce,
                                                    const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  FB_CHECK_VALUE(target.sizes() == input.sizes(), "Using a target size (", SizeOf{target.sizes()},
                 ") that is different to the input size (", SizeOf{input.sizes()},
                 ") is deprecated. Please ensure they have the same size.");
  FB_CHECK(target.dtype() == input.dtype(), "Found dtype ", legacy_name_of(target.dtype()),
           " but expected ", legacy_name_of(input.dtype()),
           ": target and input must have the same dtype");
  const auto [x, y] = alike(input, target);
  if (!weight) return ops::_binary_cross_entropy(x, y, number_of(how));
  const Tensor fitting = ops::expand(weight, broadcast_shapes(weight.sizes(), input.sizes()));
  return weighted(ops::_binary_cross_entropy(x, y, number_of(Reduction::kNone)), fitting, how,
                  false);
}

Tensor composed::nn_functional_binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const Tensor& weight,
    std::optional<bool> size_average, std::optional<bool> reduce, const std::string& reduction,
    const Tensor& pos_weight) {
  return logits_loss(input, target, weight, pos_weight,
                     read_reduction(reduction, size_average, reduce));
}

Tensor composed::numbered_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                 const Tensor& pos_weight, int64_t reduction) {
  return logits_loss(input, target, weight, pos_weight, numbered_reduction(reduction));
}

Tensor composed::nn_functional_kl_div(const Tensor& input, const Tensor& target,
                                      std::optional<bool> size_average, std::optional<bool> reduce,
                                      const std::string& reduction, bool log_target) {
  if (reduction == "batchmean" && !size_average && !reduce) {
    const Tensor total = divergence(input, target, Reduction::kSum, log_target);
    return input.dim() == 0 ? total : ops::div(total, input.sizes()[0]);
  }
  const Reduction how = read_reduction(reduction, size_average, reduce);
  if (reduction == "mean" && !size_average && !reduce)
    warn(
        "reduction: 'mean' divides the total loss by both the batch size and the support size."
        "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
        "'mean' will be changed to behave the same as 'batchmean' in the next major release.");
  return divergence(input, target, how, log_target);
}

Tensor composed::numbered_kl_div(const Tensor& input, const Tensor& target, int64_t reduction,
                                 bool log_target) {
  return divergence(input, target, numbered_reduction(reduction), log_target);
}

Tensor composed::nn_functional_poisson_nll_loss(const Tensor& input, const Tensor& target,
                                                bool log_input, bool full,
                                                std::optional<bool> size_average, double eps,
                                                std::optional<bool> reduce,
                                                const std::string& reduction) {
  return poisson_loss(input, target, log_input, full, eps,
                      read_reduction(reduction, size_average, reduce));
}

Tensor composed::numbered_poisson(const Tensor& input, const Tensor& target, bool log_input,
                                  bool full, double eps, int64_t reduction) {
  return poisson_loss(input, target, log_input, full, eps, numbered_reduction(reduction));
}

Tensor nn_functional_gaussian_nll_loss(const Tensor& input, const Tensor& target,
                                       const Operand& var, bool full, double eps,
                                       const std::string& reduction) {
  const Reduction how = read_reduction(reduction, {}, {});
  Tensor variance = var.is_tensor() ? var.tensor() : ops::full_like(input, var.scalar());
  if (variance.sizes() != input.sizes()) {
    // One variance for each sample, without the last dimension, or broadcast along one dimension.
    const IntSpan sizes = input.sizes();
    const bool shared = !sizes.empty() && variance.sizes() == sizes.first(sizes.size() - 1);
    if (shared) variance = ops::unsqueeze(variance, -1);
    int64_t stretched = 0, differing = 0;
    for (size_t d = 0; variance.dim() == input.dim() && d < sizes.size(); ++d) {
      differing += variance.sizes()[d] != sizes[d];
      stretched += variance.sizes()[d] != sizes[d] && variance.sizes()[d] == 1;
    }
    FB_CHECK_VALUE(stretched == 1 && differing == 1, "var is of incorrect size: ", variance.sizes(),
                   " for input of shape ", sizes);
  }
  const auto [x, y, z] = alike(input, target, variance);
  const double constant = full ? 0.5 * std::log(2 * std::numbers::pi) : 0;
  return ops::_gaussian_loss(x, y, z, eps, constant, number_of(how));
}

Tensor composed::nn_functional_hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                                    double margin, std::optional<bool> size_average,
                                                    std::optional<bool> reduce,
                                                    const std::string& reduction) {
  return hinge_loss(input, target, margin, read_reduction(reduction, size_average, reduce));
}

Tensor composed::numbered_hinge(const Tensor& input, const Tensor& target, double margin,
                                int64_t reduction) {
  return hinge_loss(input, target, margin, numbered_reduction(reduction));
}

Tensor composed::nn_functional_margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                                                   const Tensor& target, double margin,
                                                   std::optional<bool> size_average,
                                                   std::optional<bool> reduce,
                                                   const std::string& reduction) {
  return ranking_loss(input1, input2, target, margin,
                      read_reduction(reduction, size_average, reduce));
}

Tensor composed::numbered_ranking(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                  double margin, int64_t reduction) {
  return ranking_loss(input1, input2, target, margin, numbered_reduction(reduction));
}

Tensor composed::nn_functional_soft_margin_loss(const Tensor& input, const Tensor& target,
                                                std::optional<bool> size_average,
                                                std::optional<bool> reduce,
                                                const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  const auto [x, y] = alike(input, target);
  return ops::_soft_margin_loss(x, y, number_of(how));
}

Tensor nn_functional_multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                                 const Tensor& weight,
                                                 std::optional<bool> size_average,
                                                 std::optional<bool> reduce,
                                                 const std::string& reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  const auto [x, y] = alike(input, target);
  FB_CHECK_INDEX(input.dim() >= 1, "expected input to have a dimension of classes, got shape ",
                 input.sizes());
  Tensor losses = ops::_logits_loss(x, y, number_of(Reduction::kNone));
  if (weight) losses = ops::mul(losses, weight);
  return reduced(ops::mean(losses, IntSpan{-1}), how);
}

}  // namespace fb::ops
