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
  Storage storage;  // of the parameter's elements when it was cast, with their version
  uint32_t version;
};
using Casts = std::unordered_map<const TensorImpl*, Kept>;
// Leaked by a thread that ends within a region: the graph of a cast may hold Python objects, which
// must not be touched then.
constinit thread_local Casts* kept = nullptr;

// A plain leaf that requires a gradient.
bool is_parameter(const Tensor& t) {
  return t->flags == kRequiresGrad && !t->grad_fn && !t->base && t.dtype() == DType::kFloat32;
}

// A cast from before the optimiser's step, or one without a needed history, is out of date.
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
  // The old entry is destroyed after the table has been changed: it may own Python objects whose
  // finalizers clear the casts.
  if (const auto [entry_at, is_new] = kept->try_emplace(parameter.get(), entry); !is_new)
    std::swap(entry_at->second, entry);
  return cast;
}

}  // namespace

Tensor Cast::operator()(const Tensor& t) const {
  if (!is_eligible(t, switches_)) return t;
  const DType lower = switches_.of(t.device())->lower;
  const DType target = target_.value_or(lower);
  if (t.dtype() == target) return t;
  if (switches_.caches && target == lower && is_parameter(t)) return cast_once(t, target);
  return ops::to_dtype(t, target);
}

std::vector<Tensor> Cast::operator()(TensorList list) const {
  std::vector<Tensor> result;
  result.reserve(list.size());
  for (const Tensor& t : list) result.push_back((*this)(t));
  return result;
}

void forget_casts() { delete std::exchange(kept, nullptr); }

}  // namespace fb::autocast
