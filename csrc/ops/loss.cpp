// Element-wise losses: one pass over the operands, without intermediate tensors.
#include "gen/ops/loss.h"

#include "kernel/table.h"
#include "ops/loss_support.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::LossKind;

// A loss as the kernels see it: every operand has the strides of the first, or is contiguous if
// that has gaps. 16-bit floats are computed in float32.
class ElementLoss {
 public:
  ElementLoss(LossKind kind, const Tensor& x, const Tensor& y, const Tensor& z, double p, double q)
      : dtype_(x.dtype()) {
    const DType type = compute_type(dtype_);
    call_ = {.kind = kind, .dtype = type, .n = x.numel(), .operands = {}, .params = {p, q}};
    const Tensor* given[] = {&x, &y, &z};
    for (int k = 0; k < 3; ++k) {
      if (!given[k]->defined()) continue;
      dense_[k] = arranged(*given[k]);
      call_.operands[k] = dense_[k].data();
    }
  }

  Tensor value(Reduction reduction) const {
    if (reduction == Reduction::kNone) {
      Tensor out = make_like(dense_[0], call_.dtype);
      kernel::of(out).loss_elements(call_, out.data());
      kernel::of(out).check_losses(call_, out.data(), call_.n);
      return cast(out, dtype_);
    }
    Tensor out = make_tensor({}, call_.dtype, dense_[0].device());
    const double divisor = reduction == Reduction::kMean ? static_cast<double>(call_.n) : 1;
    kernel::of(out).loss_sum(call_, divisor, out.data());
    kernel::of(out).check_losses(call_, out.data(), 1);
    return cast(out, dtype_);
  }

  Tensor gradient(const Tensor& given, int operand, Reduction reduction) const {
    const bool single = reduction != Reduction::kNone;
    const Tensor g = single ? cast(given, call_.dtype) : arranged(given);
    Tensor out = make_like(dense_[0], call_.dtype);
    const double scale = reduction == Reduction::kMean ? 1 / static_cast<double>(call_.n) : 1;
    kernel::of(out).loss_gradient(call_, operand, g.data(), single, scale, out.data());
    return cast(out, dtype_);
  }

 private:
  Tensor arranged(const Tensor& t) const {
    Tensor typed = cast(t, call_.dtype);
    if (typed.is_contiguous() && (!dense_[0] || dense_[0].is_contiguous())) return typed;
    if (!dense_[0]) return is_dense(typed.sizes(), typed.strides()) ? typed : contiguous(typed);
    if (typed.strides() == dense_[0].strides()) return typed;
    Tensor copy = make_like(dense_[0], call_.dtype);
    kernel::copy(copy, typed);
    return copy;
  }

  DType dtype_;
  kernel::LossCall call_;
  Tensor dense_[3];
};

Tensor loss_of(LossKind kind, const Tensor& x, const Tensor& y, int64_t reduction, double p = 0,
               double q = 0) {
  return ElementLoss(kind, x, y, {}, p, q).value(numbered_reduction(reduction));
}
Tensor loss_of(LossKind kind, const Tensor& x, const Tensor& y, const Tensor& z, int64_t reduction,
               double p = 0, double q = 0) {
  return ElementLoss(kind, x, y, z, p, q).value(numbered_reduction(reduction));
}

}  // namespace

Tensor compute::_mse_loss(const Tensor& input, const Tensor& target, int64_t reduction) {
  return loss_of(LossKind::kSquared, input, target, reduction);
}

Tensor compute::_l1_loss(const Tensor& input, const Tensor& target, int64_t reduction) {
  return loss_of(LossKind::kAbsolute, input, target, reduction);
}

Tensor compute::_smooth_l1_loss(const Tensor& input, const Tensor& target, double beta,
                                int64_t reduction) {
  return loss_of(LossKind::kSmoothAbsolute, input, target, reduction, beta);
}

Tensor compute::_huber_loss(const Tensor& input, const Tensor& target, double delta,
                            int64_t reduction) {
  return loss_of(LossKind::kHuber, input, target, reduction, delta);
}

Tensor compute::_binary_cross_entropy(const Tensor& input, const Tensor& target,
                                      int64_t reduction) {
  return loss_of(LossKind::kBinary, input, target, reduction);
}

Tensor compute::_logits_loss(const Tensor& input, const Tensor& target, int64_t reduction) {
  return loss_of(LossKind::kBinaryLogits, input, target, reduction);
}

Tensor compute::_weighted_logits_loss(const Tensor& input, const Tensor& target,
                                      const Tensor& pos_weight, int64_t reduction) {
  return loss_of(LossKind::kWeightedLogits, input, target, pos_weight, reduction);
}

Tensor compute::_kl_div(const Tensor& input, const Tensor& target, bool log_target,
                        int64_t reduction) {
  return loss_of(log_target ? LossKind::kLogDivergence : LossKind::kDivergence, input, target,
                 reduction);
}

Tensor compute::_poisson_loss(const Tensor& input, const Tensor& target, bool log_input, double eps,
                              int64_t reduction) {
  return loss_of(log_input ? LossKind::kLogPoisson : LossKind::kPoisson, input, target, reduction,
                 eps);
}

Tensor compute::_gaussian_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                               double eps, double constant, int64_t reduction) {
  return loss_of(LossKind::kGaussian, input, target, var, reduction, eps, constant);
}

Tensor compute::_hinge_loss(const Tensor& input, const Tensor& target, double margin,
                            int64_t reduction) {
  return loss_of(LossKind::kHingeEmbedding, input, target, reduction, margin);
}

Tensor compute::_ranking_loss(const Tensor& input, const Tensor& target, const Tensor& input2,
                              double margin, int64_t reduction) {
  return loss_of(LossKind::kRanking, input, target, input2, reduction, margin);
}

Tensor compute::_soft_margin_loss(const Tensor& input, const Tensor& target, int64_t reduction) {
  return loss_of(LossKind::kSoftMargin, input, target, reduction);
}

Tensor compute::loss_gradient(int64_t kind, int64_t operand, const Tensor& gradient,
                              const Tensor& x, const Tensor& y, const Tensor& z, double p, double q,
                              int64_t reduction) {
  return ElementLoss(static_cast<LossKind>(kind), x, y, z, p, q)
      .gradient(gradient, static_cast<int>(operand), numbered_reduction(reduction));
}

}  // namespace fb::ops
