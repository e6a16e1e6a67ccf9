// Casts of inputs, and the casts of parameters that are kept.
#include "autograd/autocast.h"

#include <unordered_map>
#include <utility>

#include "gen/ops/copy.h"

namespace fb::autocast {

constinit thread_local State state;

namespace {

struct Kept {
  Tensor parameter, cast;
  Storage storage;  // what the parameter's elements were, and their version, when it was cast
  uint32_t version;
};
using Casts = std::unordered_map<const TensorImpl*, Kept>;
// Given up rather than dropped by a thread that ends in a region: the graph of a cast may hold
// objects of Python, which nobody may touch then.
constinit thread_local Casts* kept = nullptr;

// A leaf that wants a gradient, and nothing else.
bool is_parameter(const Tensor& t) {
  return t->flags == kRequiresGrad && !t->grad_fn && !t->base && t.dtype() == DType::kFloat32;
}

// The cast of an optimiser's last step, or one without a history, does not serve any more.
bool serves(const Kept& entry, const Tensor& parameter, DType target) {
  const Storage& storage = parameter->storage;
  return entry.storage == storage && entry.version == storage->version &&
         entry.cast.dtype() == target &&
         (autograd::requires_grad(entry.cast) || !autograd::is_recording());
}

Tensor cast_once(const Tensor& parameter, DType target) {
  if (!kept) kept = new Casts;
  const auto found = kept->find(parameter.get());
  if (found != kept->end() && serves(found->second, parameter, target)) return found->second.cast;
  const Tensor cast = ops::to_dtype(parameter, target);
  const Storage& storage = parameter->storage;
  Kept entry{parameter, cast, storage, storage->version};
  // What was kept ends after the table has been changed: with it may end objects of Python, which
  // may forget the casts.
  if (const auto [entry_at, is_new] = kept->try_emplace(parameter.get(), entry); !is_new)
    std::swap(entry_at->second, entry);
  return cast;
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

void forget_casts() { delete std::exchange(kept, nullptr); }

}  // namespace fb::autocast
