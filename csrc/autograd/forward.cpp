// Tangents of the results of operators.
#include "autograd/forward.h"

#include <algorithm>
#include <limits>

#include "autograd/batch.h"
#include "autograd/engine.h"
#include "autograd/history.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/view.h"

namespace fb::autograd {
namespace {

struct Levels {
  std::vector<int64_t> active;
  int64_t limit = std::numeric_limits<int64_t>::max();  // this level and higher ones are hidden
};
thread_local Levels levels_here;

constexpr int64_t kNoLevel = -1;

bool is_visible(int64_t level) {
  return level < levels_here.limit &&
         std::ranges::find(levels_here.active, level) != levels_here.active.end();
}

bool is_differentiable(const Tensor& t) { return is_floating(t.dtype()) || is_complex(t.dtype()); }

const Tensor* own_tangent(const TensorImpl& t, int64_t level) {
  if (!(t.flags & kDual)) return nullptr;
  for (const Tangent& tangent : t.autograd->tangents)
    if (tangent.level == level) return &tangent.value;
  return nullptr;
}

// The part of `of`, which has the shape of the base of `view`, that corresponds to the view.
Tensor window_like(const Tensor& view, const Tensor& of) {
  if (view->autograd && view->autograd->replay) return view->autograd->replay(of);
  return ops::as_strided(of, view.sizes(), view.strides(),
                         view.offset() - view->base->offset + of.offset());
}

// The same elements in the memory order of `t`, so that views of both have the same strides.
Tensor laid_out_like(const Tensor& tangent, const Tensor& t) {
  if (tangent.strides() == t.strides()) return tangent;
  const Tensor image = ops::new_empty_strided(tangent, t.sizes(), t.strides());
  ops::copy_(image, tangent);
  return image;
}

// Stands for the gradients of a node's results.
class Probe final : public Node {
 public:
  const char* name() const override { return "Probe"; }
  void apply(std::span<const Tensor>, Gradients&) override {}
};

}  // namespace

Below::Below(int64_t level) : before_(levels_here.limit) { levels_here.limit = level; }
Below::~Below() { levels_here.limit = before_; }

int64_t enter_dual_level() {
  static std::atomic<int64_t> next{0};
  return levels_here.active.emplace_back(next++);
}

void exit_dual_level(int64_t level) {
  FB_CHECK(level == current_dual_level(),
           "Trying to exit a forward AD level that was not the last one that was created. This is "
           "not supported.");
  levels_here.active.pop_back();
}

int64_t current_dual_level() { return levels_here.active.empty() ? -1 : levels_here.active.back(); }

bool has_tangent(const Tensor& t) {
  const auto carries = [](const TensorImpl& impl) {
    return impl.flags & kDual && std::ranges::any_of(impl.autograd->tangents, [](const Tangent& x) {
             return is_visible(x.level);
           });
  };
  return carries(*t.get()) || (t->base && carries(*t->base));
}

bool carries_tangent(const Tensor& t) { return t && has_tangent(bottom_of(t)); }
bool carries_tangent(std::span<const Tensor> list) {
  return std::ranges::any_of(list, [](const Tensor& t) { return carries_tangent(t); });
}

Tensor tangent_of(const Tensor& t, int64_t level) {
  if (t->flags & kBatched) {
    const Tensor all = tangent_of(t->autograd->batch, level);
    return all ? make_batched(all, t->autograd->batch_level) : all;
  }
  if (const Tensor* own = own_tangent(*t.get(), level)) return *own;
  if (!t->base) return {};
  const Tensor base = Tensor::retain(t->base);
  const Tensor* whole = own_tangent(*base.get(), level);
  if (!whole) return {};
  const Below hidden(level);
  const Tensor image = laid_out_like(*whole, base);
  set_tangent(base, level, image);
  set_tangent(t, level, window_like(t, image));
  return *own_tangent(*t.get(), level);
}

void set_tangent(const Tensor& t, int64_t level, Tensor tangent) {
  if (t->flags & kBatched)  // tangents lie where the samples do
    return set_tangent(t->autograd->batch, level, samples_of(tangent, t->autograd->batch_level));
  std::vector<Tangent>& tangents = meta_of(t).tangents;
  t->flags |= kDual;
  const auto found = std::ranges::find(tangents, level, &Tangent::level);
  if (found != tangents.end())
    found->value = std::move(tangent);
  else
    tangents.push_back({level, std::move(tangent)});
}

void share_tangents(const Tensor& alias, const Tensor& t) {
  if (!(t->flags & kDual)) return;
  meta_of(alias).tangents = t->autograd->tangents;
  alias->flags |= kDual;
}

std::vector<Tangent> tangents_of(const Tensor& t) {
  std::vector<Tangent> found;
  Tensor bottom = t;
  while (bottom->flags & kBatched) bottom = bottom->autograd->batch;
  for (const TensorImpl* at : {bottom.get(), bottom->base}) {
    if (!at || !(at->flags & kDual)) continue;
    for (const Tangent& tangent : at->autograd->tangents)
      if (is_visible(tangent.level) &&
          std::ranges::find(found, tangent.level, &Tangent::level) == found.end())
        found.push_back({tangent.level, {}});
  }
  for (Tangent& tangent : found) tangent.value = tangent_of(t, tangent.level);
  return found;
}

Tensor map_dual(const Tensor& t, const std::function<Tensor(const Tensor&)>& f) {
  const std::vector<Tangent> tangents = tangents_of(t);
  const auto below = [&](int64_t level, const Tensor& part) {
    const Below hidden(level);
    return f(part);
  };
  Tensor result = below(kNoLevel, t);
  for (const auto& [level, value] : tangents) set_tangent(result, level, below(level, value));
  return result;
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level) {
  FB_CHECK(is_differentiable(primal),
           "Expected primal to be floating point or complex, but got: ", primal.dtype());
  FB_CHECK(is_differentiable(tangent),
           "Expected tangent to be floating point or complex, but got: ", tangent.dtype());
  FB_CHECK(primal.sizes() == tangent.sizes(),
           "Trying to set a forward gradient that has a different size than that of the original "
           "Tensor, this is not supported. Tensor is of size ",
           primal.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  const Tensor dual = ops::_alias(primal);
  // Changing the dual number in place changes its tangent, which must not be a leaf.
  const bool is_fixed = requires_grad(tangent) && is_leaf(tangent);
  set_tangent(dual, level, is_fixed ? ops::clone(tangent) : tangent);
  return dual;
}

Tensor primal_of(const Tensor& t, int64_t level) {
  if (t->flags & kBatched)
    return make_batched(primal_of(t->autograd->batch, level), t->autograd->batch_level);
  const Below hidden(level);
  const Tensor primal = ops::_alias(t);
  forget_base(primal);  // it would inherit the base's tangents
  return primal;
}

std::vector<int64_t> dual_levels(TensorList tensors) {
  std::vector<int64_t> found;
  for (const Tensor& t : tensors)
    for (const Tangent& tangent : tangents_of(t))
      if (std::ranges::find(found, tangent.level) == found.end()) found.push_back(tangent.level);
  std::ranges::sort(found);
  return found;
}

std::vector<int64_t> DualInputs::levels() const {
  std::vector<Tensor> tensors;
  for (const Input& input : inputs_) tensors.push_back(input.tensor);
  return dual_levels(tensors);
}

std::vector<Tensor> DualInputs::tangents(Node& node, TensorList results, int64_t level) const {
  const bool records = mode.grad_enabled;
  const Below hidden(level);
  const GradMode recording(true);
  const NodeRef probe(new Probe);
  probe->sequence = next_sequence();
  std::vector<Tensor> given;
  std::vector<Edge> ends;
  for (size_t i = 0; i < results.size(); ++i) {
    const OutputMeta& meta = node.outputs[i];
    probe->outputs.push_back(meta);
    given.push_back({});
    ends.push_back({probe, static_cast<uint32_t>(i)});
    if (!is_differentiable(results[i])) continue;
    given[i] = ops::zeros(meta.sizes, meta.dtype, meta.device);
    set_history(given[i], probe, static_cast<uint32_t>(i));
  }
  const Gradients gradients = call(node, given);
  std::vector<Edge> roots;
  std::vector<Tensor> directions;
  for (const Input& input : inputs_) {
    const Tensor tangent = tangent_of(input.tensor, level);
    if (!tangent || !gradients[input.index]) continue;
    const Tensor fitted = fit(gradients[input.index], output_meta(input.tensor), node, input.index);
    if (!requires_grad(fitted)) continue;
    roots.push_back(gradient_edge(fitted));
    directions.push_back(tangent);
  }
  return backward(roots, directions, ends, {.keep_graph = records, .create_graph = records});
}

void DualInputs::carry(Node& node, TensorList results, int64_t level,
                       uint32_t differentiable) const {
  const std::vector<Tensor> found = tangents(node, results, level);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_differentiable(results[i]) || (i < 32 && !(differentiable >> i & 1))) continue;
    const Below hidden(level);
    Tensor tangent = found[i] ? found[i] : ops::zeros_like(results[i]);
    // A result with memory of its own has a tangent of its own.
    if (shares_tangent(tangent, level)) tangent = ops::clone(tangent);
    set_tangent(results[i], level, tangent);
  }
}

bool DualInputs::shares_tangent(const Tensor& t, int64_t level) const {
  return std::ranges::any_of(inputs_, [&](const Input& input) {
    const Tensor tangent = tangent_of(input.tensor, level);
    return tangent && tangent.storage() == t.storage();
  });
}

void DualInputs::carry_views(TensorList results, const Again& again) const {
  const Tensor& input = inputs_[0].tensor;
  for (const int64_t level : levels()) {
    const Below hidden(level);
    Tensor tangent = tangent_of(input, level);
    if (!has_internal_overlap(input)) {
      tangent = laid_out_like(tangent, input);
      set_tangent(input, level, tangent);
    }
    const std::vector<Tensor> found = again(tangent);
    for (size_t i = 0; i < results.size(); ++i) set_tangent(results[i], level, found[i]);
  }
}

void DualInputs::carry_inplace(Node& node, const Tensor& self, int64_t level) const {
  const std::vector<Tensor> found = tangents(node, TensorList(&self, 1), level);
  const Below hidden(level);
  const Tensor next = found[0] ? found[0] : ops::zeros_like(self);
  if (self->base && !tangent_of(self, level)) {
    const Tensor base = Tensor::retain(self->base);
    const Tensor image = ops::new_empty_strided(next, base.sizes(), base.strides());
    ops::zero_(image);
    set_tangent(base, level, image);
  }
  // Views of `self` have windows on its tangent.
  if (const Tensor before = tangent_of(self, level))
    ops::copy_(before, next);
  else
    set_tangent(self, level, next);
}

}  // namespace fb::autograd
