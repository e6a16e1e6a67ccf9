// Derivatives of losses: one kernel, or a composition of operators where the derivative itself is
// to be differentiated.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// With respect to operand `k` of an element-wise loss; the other arguments are the operator's.
Tensor mse_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                         int64_t reduction);
Tensor l1_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                        int64_t reduction);
Tensor smooth_l1_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                               const Tensor& target, double beta, int64_t reduction);
Tensor huber_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                           double delta, int64_t reduction);
Tensor binary_cross_entropy_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                     const Tensor& target, int64_t reduction);
Tensor logits_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                            const Tensor& target, int64_t reduction);
Tensor weighted_logits_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                     const Tensor& target, const Tensor& pos_weight,
                                     int64_t reduction);
Tensor kl_div_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                       bool log_target, int64_t reduction);
Tensor poisson_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                             const Tensor& target, bool log_input, double eps, int64_t reduction);
Tensor gaussian_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                              const Tensor& target, const Tensor& var, double eps, double constant,
                              int64_t reduction);
Tensor hinge_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                           double margin, int64_t reduction);
Tensor ranking_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                             const Tensor& target, const Tensor& input2, double margin,
                             int64_t reduction);
Tensor soft_margin_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                 const Tensor& target, int64_t reduction);

// By the scores.
Tensor cross_entropy_backward(const Tensor& grad, const Tensor& input, const Tensor& target,
                              const Tensor& weight, const Tensor& statistics, int64_t ignore_index,
                              double label_smoothing, int64_t reduction);
// By the scores, or by the soft targets.
Tensor soft_cross_entropy_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                   const Tensor& target, const Tensor& weight,
                                   const Tensor& statistics, double label_smoothing,
                                   int64_t reduction);
Tensor multi_margin_loss_backward(const Tensor& grad, const Tensor& input, const Tensor& target,
                                  int64_t p, double margin, const Tensor& weight,
                                  int64_t reduction);
Tensor multilabel_margin_loss_backward(const Tensor& grad, const Tensor& input,
                                       const Tensor& target, int64_t reduction);
// The gradient of nll_loss is linear in the incoming gradient: this is its transpose.
Tensor nll_loss_transpose(const Tensor& grad, const Tensor& target, const Tensor& weight,
                          int64_t ignore_index, int64_t reduction);

}  // namespace fb::autograd::formula
