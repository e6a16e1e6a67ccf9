// Where results go that the caller has a place for.
#include "tape/store.h"

#include "autograd/batch.h"
#include "autograd/inplace.h"
#include "autograd/sparse.h"
#include "tape/invoke.h"

namespace fb::tape {

void store_result(const char* name, const Tensor& out, const Tensor& value, ops::OutRule rule) {
  check_dense(name, out);
  check_dense(name, value);
  if (autograd::is_recording() && (autograd::requires_grad(out) || autograd::requires_grad(value)))
    autograd::refuse_out(name);
  if (out->flags & kBatched || value->flags & kBatched) autograd::refuse_batched_out(name);
  autograd::check_inplace(out);
  ops::store_result(out, value, rule);
  out.bump_version(name);
}

const ops::Operator& storing(const ops::Operator& op) {
  const std::string overload = *op.overload ? std::string(op.overload) + "_out" : "out";
  const ops::Operator* found = find_op(std::string(op.name) + "." + overload);
  FB_ASSERT(found);
  return *found;
}

}  // namespace fb::tape
