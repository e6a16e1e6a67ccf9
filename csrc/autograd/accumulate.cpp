// A leaf's .grad.
#include "autograd/history.h"
#include "autograd/ownership.h"
#include "core/observe.h"
#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "ops/output.h"

namespace fb::autograd {
namespace {

// Whether nobody else can see the elements, so that they may be kept or changed.
// `handles`: how many references to the tensor the callers hold.
bool is_ours(const Tensor& t, int handles) {
  // The view of a base that nobody else holds, as after t(), counts as the tensor itself.
  const bool holds_base = t->base && t->base->refs.load(std::memory_order_relaxed) == 1;
  return t->refs.load(std::memory_order_relaxed) <= handles &&
         t->storage->refs.load(std::memory_order_relaxed) == (holds_base ? 2 : 1) &&
         is_own_memory(*t->storage.get()) && !t->python_object;
}

bool is_laid_out_like(const Tensor& grad, const Tensor& variable) {
  if (grad->deferred_layout) return variable.is_contiguous() || variable->deferred_layout;
  return is_dense(variable.sizes(), variable.strides()) ? grad.strides() == variable.strides()
                                                        : grad.is_contiguous();
}

// A sparse gradient that shares nothing: the parts are kept if nobody else can see them.
Tensor kept_sparse(const Tensor& grad) {
  const Tensor& values = sparse_parts(grad).values;
  const bool is_free = grad->refs.load(std::memory_order_relaxed) <= 2 && !grad->python_object;
  return is_free && values.is_contiguous() && is_ours(values, 1) ? detached(grad)
                                                                 : ops::clone(grad);
}

// If one of the two is sparse, only a dense sum is changed in place.
Tensor sum_with_sparse(const Tensor& sum, const Tensor& grad) {
  if (is_sparse(sum) && !is_sparse(grad)) return ops::add(grad, sum);
  if (is_sparse(sum) || mode.grad_enabled) return ops::add(sum, grad);
  ops::add_(sum, grad);
  return sum;
}

}  // namespace

void accumulate(const Tensor& variable, const Tensor& grad) {
  Meta& meta = meta_of(variable);
  if (grad->is_promised()) [[unlikely]] {  // meta tensors: a sum has nothing to add
    if (!meta.grad) meta.grad = grad;
    return;
  }
  if (is_sparse(grad) || is_sparse(meta.grad)) [[unlikely]] {
    if (meta.grad)
      meta.grad = sum_with_sparse(meta.grad, grad);
    else
      meta.grad = mode.grad_enabled ? ops::clone(grad) : kept_sparse(grad);
    return;
  }
  if (!meta.grad) {
    // The engine's buffer, the argument of apply and the local of the caller hold it.
    const bool is_recorded = observe::watches(observe::kRecord);
    if (!mode.grad_enabled && !is_recorded && is_ours(grad, 2) && is_laid_out_like(grad, variable))
      meta.grad = detached(grad);
    else if (mode.grad_enabled || grad->flags & kBatched)
      meta.grad = ops::clone(grad);
    else if (is_recorded) {
      // By operators, as a recorder sees nothing else.
      meta.grad = ops::empty_like(variable, grad.dtype());
      ops::copy_(meta.grad, grad);
    } else {
      meta.grad = make_like(variable, grad.dtype());
      ops::copy_into(meta.grad, grad);
    }
    return;
  }
  if (mode.grad_enabled) {
    meta.grad = ops::add(meta.grad, grad);
  } else {
    const GradMode off(false);
    ops::add_(meta.grad, grad);
  }
}

}  // namespace fb::autograd
