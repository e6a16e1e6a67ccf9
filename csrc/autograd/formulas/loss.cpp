#include "autograd/formulas/loss.h"

#include "autograd/formula.h"
#include "gen/ops/activation.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/loss.h"
#include "gen/ops/view.h"
#include "kernel/loss.h"
#include "ops/loss_support.h"

namespace fb::autograd::formula {

using namespace ops;
using kernel::LossKind;

namespace {

// An element-wise loss: x the prediction, y the target, z a third operand, p and q its numbers.
struct Elements {
  LossKind kind;
  const Tensor& x;
  const Tensor& y;
  Tensor z;
  double p = 0, q = 0;
};

// The derivatives of scalar/loss.h, as operators.
Tensor derivative(const Elements& e, int64_t k) {
  const Tensor &x = e.x, &y = e.y, &z = e.z;
  const auto difference = [&] { return k == 0 ? x - y : y - x; };
  switch (e.kind) {
    case LossKind::kSquared: return 2 * difference();
    case LossKind::kAbsolute: return ops::sign(difference());
    case LossKind::kSmoothAbsolute:
      return ops::clamp(difference() / e.p, Scalar(-1.0), Scalar(1.0));
    case LossKind::kHuber: return ops::clamp(difference(), Scalar(-e.p), Scalar(e.p));
    case LossKind::kBinary:
      if (k == 1) return ops::clamp_min(ops::log1p(-x), -100) - ops::clamp_min(ops::log(x), -100);
      return (x - y) / ops::clamp_min((1 - x) * x, 1e-12);
    case LossKind::kBinaryLogits: return k == 0 ? ops::sigmoid(x) - y : -x;
    case LossKind::kWeightedLogits:
      if (k == 1) return (1 - z) * ops::logsigmoid(x) - x;
      if (k == 2) return -y * ops::logsigmoid(x);
      return (1 - y) - (1 + (z - 1) * y) * ops::sigmoid(-x);
    case LossKind::kDivergence: return k == 0 ? -y : ops::log(y) + 1 - x;
    case LossKind::kLogDivergence: return k == 0 ? -ops::exp(y) : ops::exp(y) * (y - x + 1);
    case LossKind::kPoisson: return k == 0 ? 1 - y / (x + e.p) : -ops::log(x + e.p);
    case LossKind::kLogPoisson: return k == 0 ? ops::exp(x) - y : -x;
    case LossKind::kGaussian: {
      // Bounded, though its own derivative is not.
      const Tensor bound = ops::clamp_min(ops::detach(z), e.p) - ops::detach(z);
      const Tensor variance = z + bound;
      if (k < 2) return difference() / variance;
      return 0.5 * (1 - (x - y) * (x - y) / variance) / variance;
    }
    case LossKind::kHingeEmbedding: {
      const Tensor apart = ops::ne(y, 1) & ops::le(x, e.p);
      return ops::to_dtype(ops::ne(y, -1), x.dtype()) - ops::to_dtype(apart, x.dtype());
    }
    case LossKind::kRanking: {
      const Tensor slope = k == 0 ? -y : k == 1 ? z - x : y;
      return ops::where(ops::ge(e.p - y * (x - z), 0), slope, 0.0);
    }
    case LossKind::kSoftMargin: return (k == 0 ? -y : -x) * ops::sigmoid(-y * x);
  }
  __builtin_unreachable();
}

Tensor gradient(const Elements& e, int64_t k, const Tensor& grad, int64_t reduction) {
  if (!is_differentiated(grad, e.x, e.y, e.z))
    return ops::loss_gradient(static_cast<int64_t>(e.kind), k, grad, e.x, e.y, e.z, e.p, e.q,
                              reduction);
  const bool mean = numbered_reduction(reduction) == Reduction::kMean;
  return (mean ? grad / e.x.numel() : grad) * derivative(e, k);
}

}  // namespace

Tensor mse_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                         int64_t reduction) {
  return gradient({LossKind::kSquared, input, target, {}}, k, grad, reduction);
}

Tensor l1_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                        int64_t reduction) {
  return gradient({LossKind::kAbsolute, input, target, {}}, k, grad, reduction);
}

Tensor smooth_l1_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                               const Tensor& target, double beta, int64_t reduction) {
  return gradient({LossKind::kSmoothAbsolute, input, target, {}, beta}, k, grad, reduction);
}

Tensor huber_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                           double delta, int64_t reduction) {
  return gradient({LossKind::kHuber, input, target, {}, delta}, k, grad, reduction);
}

Tensor binary_cross_entropy_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                     const Tensor& target, int64_t reduction) {
  return gradient({LossKind::kBinary, input, target, {}}, k, grad, reduction);
}

Tensor logits_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                            const Tensor& target, int64_t reduction) {
  return gradient({LossKind::kBinaryLogits, input, target, {}}, k, grad, reduction);
}

Tensor weighted_logits_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                     const Tensor& target, const Tensor& pos_weight,
                                     int64_t reduction) {
  return gradient({LossKind::kWeightedLogits, input, target, pos_weight}, k, grad, reduction);
}

Tensor kl_div_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                       bool log_target, int64_t reduction) {
  const LossKind kind = log_target ? LossKind::kLogDivergence : LossKind::kDivergence;
  return gradient({kind, input, target, {}}, k, grad, reduction);
}

Tensor poisson_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                             const Tensor& target, bool log_input, double eps, int64_t reduction) {
  const LossKind kind = log_input ? LossKind::kLogPoisson : LossKind::kPoisson;
  return gradient({kind, input, target, {}, eps}, k, grad, reduction);
}

Tensor gaussian_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                              const Tensor& target, const Tensor& var, double eps, double constant,
                              int64_t reduction) {
  return gradient({LossKind::kGaussian, input, target, var, eps, constant}, k, grad, reduction);
}

Tensor hinge_loss_backward(int64_t k, const Tensor& grad, const Tensor& input, const Tensor& target,
                           double margin, int64_t reduction) {
  return gradient({LossKind::kHingeEmbedding, input, target, {}, margin}, k, grad, reduction);
}

Tensor ranking_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                             const Tensor& target, const Tensor& input2, double margin,
                             int64_t reduction) {
  return gradient({LossKind::kRanking, input, target, input2, margin}, k, grad, reduction);
}

Tensor soft_margin_loss_backward(int64_t k, const Tensor& grad, const Tensor& input,
                                 const Tensor& target, int64_t reduction) {
  return gradient({LossKind::kSoftMargin, input, target, {}}, k, grad, reduction);
}

}  // namespace fb::autograd::formula
