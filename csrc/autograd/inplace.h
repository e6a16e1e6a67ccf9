// In-place forms of operators that have no kernel for them.
#pragma once

#include "autograd/record.h"
#include "gen/ops/copy.h"
#include "ops/output.h"

namespace fb::autograd {

inline void check_inference(TensorList list) {
  for (const Tensor& t : list)
    if (t) check_inference(t);
}
// For all tensors that an operator writes to.
template <class First, class... Rest>
  requires(sizeof...(Rest) > 0)
void check_inference(const First& first, const Rest&... rest) {
  check_inference(first);
  (check_inference(rest), ...);
}

// In-place views such as t_(): `self` becomes the view that `view` makes of it.
template <class F>
void become_recorded_view(const char* name, const Tensor& self, F&& view) {
  check_dense(name, self);
  if (!takes_fast_path(self)) check_inplace(self);
  const Tensor result = view();
  self.bump_version(name);
  if (result.is_same(self)) return;
  ops::become_view(self, result);
  if (self->flags & kBatched) self->autograd->batch = result->autograd->batch;
  share_tangents(self, result);
  if (!(result->flags & kRequiresGrad) || !result->grad_fn) return;
  result->grad_fn->in_place = true;
  set_history(self, NodeRef::retain(result->grad_fn), result->output_nr);
}

// The elements of `self` become those that `f` computes from it.
template <class F>
void replace_elements(const char* name, const Tensor& self, F&& f) {
  check_dense(name, self);
  if (takes_fast_path(self)) {
    const Tensor result = f(self);
    if (takes_fast_path(result)) {
      ops::overwrite(self, result);
      self.bump_version(name);
      return;
    }
  }
  check_inplace(self);
  // The recorded computation must not see the change.
  const Tensor result = f(ops::clone(self));
  FB_CHECK(can_cast(result.dtype(), self.dtype()), "a result of type ", result.dtype(),
           " can't be cast to the desired output type ", self.dtype());
  FB_CHECK(result.sizes() == self.sizes(), "the result's shape ", result.sizes(),
           " is not the shape of the tensor to change, ", self.sizes());
  ops::copy_(self, result);
}

}  // namespace fb::autograd
