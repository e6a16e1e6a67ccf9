// Casts of inputs, and the casts of parameters that are kept.
#include "autograd/autocast.h"

#include <unordered_map>

#include "gen/ops/copy.h"

namespace fb::autocast {

constinit thread_local State state;

namespace {

struct Kept {
  Tensor parameter, cast;
  uint32_t version;  // of the parameter, when it was cast
};
thread_local std::unordered_map<const TensorImpl*, Kept> kept;

// A leaf that wants a gradient, and nothing else.
bool is_parameter(const Tensor& t) {
  return t->flags == kRequiresGrad && !t->grad_fn && !t->base && t.dtype() == DType::kFloat32;
}

// The cast of an optimiser's last step, or one without a history, does not serve any more.
bool serves(const Kept& entry, const Tensor& parameter, DType target) {
  return entry.version == parameter->storage->version && entry.cast.dtype() == target &&
         (autograd::requires_grad(entry.cast) || !autograd::is_recording());
}

Tensor cast_once(const Tensor& parameter, DType target) {
  Kept& entry = kept[parameter.get()];
  if (!entry.cast || !serves(entry, parameter, target))
    entry = {parameter, ops::to_dtype(parameter, target), parameter->storage->version};
  return entry.cast;
}

}  // namespace

Tensor Cast::operator()(const Tensor& t) const {
  if (!is_eligible(t) || t.dtype() == target_) return t;
  if (state.caches && target_ == state.lower && is_parameter(t)) return cast_once(t, target_);
  return ops::to_dtype(t, target_);
}

std::vector<Tensor> Cast::operator()(TensorList list) const {
  std::vector<Tensor> result;
  result.reserve(list.size());
  for (const Tensor& t : list) result.push_back((*this)(t));
  return result;
}

void forget_casts() { kept.clear(); }

}  // namespace fb::autocast
