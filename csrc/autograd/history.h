// Where a tensor came from: its node, its gradient, and how views and changes in place keep both
// right.
//
// Note [Views and in-place changes]: a view shares the elements of its base, so a change through
// either changes what both are computed from. The history of the elements is kept by the base
// alone. Changing a view records the change at the base (a CopySlices node: of the base's gradient
// the changed window goes through the operator's node, the rest passes by), and a view whose
// storage has changed since its grad_fn was made gets a new one, as a view of the base.
#pragma once

#include "autograd/forward.h"
#include "autograd/mode.h"
#include "autograd/node.h"
#include "autograd/sparse.h"

namespace fb::autograd {

// What only few tensors have.
struct Meta {
  Tensor grad;
  Node* accumulator = nullptr;  // borrowed: of a leaf, while the graph holds one
  bool retains_grad = false;
  std::vector<TensorHook> hooks;  // of a leaf; those of results belong to nodes
  std::function<void(const Tensor&)> after_accumulation;  // of a leaf, when its grad is complete
  std::function<Tensor(const Tensor&)> replay;  // of a view with another type: makes it from a base
  std::vector<Tangent> tangents;                // kDual
  Tensor batch;                                 // kBatched: all of them, in the first dimension
  int64_t batch_level = 0;
  std::unique_ptr<SparseParts> sparse;  // kSparse
  // The binding's: the dictionaries of _backward_hooks and of after_accumulation.
  std::shared_ptr<void> python_hooks, python_after_accumulation;
};
Meta& meta_of(const Tensor& t);

inline bool requires_grad(const TensorImpl& t) {
  if (t.flags & kBatched) return requires_grad(*t.autograd->batch.get());
  return t.flags & kRequiresGrad || (t.base && t.base->flags & kRequiresGrad);
}
inline bool requires_grad(const Tensor& t) { return requires_grad(*t.get()); }
// Refuses types that have no gradient, and results of recorded operators.
void set_requires_grad(const Tensor& t, bool wanted);
// A view of `t` that requires gradients: part of its history, or a leaf if it has none. Inside vmap
// it is batched, so that its gradients are too.
Tensor variable_of(const Tensor& t);
// The same elements and tangents, without history.
Tensor without_history(const Tensor& t);
// Whether the history of `roots` has leaves besides `variables`, or leads through one of them.
bool leads_elsewhere(TensorList roots, TensorList variables);

// The node that made it; null for leaves. Up to date even for a view.
NodeRef grad_fn(const Tensor& t);
inline bool is_leaf(const Tensor& t) { return !requires_grad(t) || !grad_fn(t); }
// Where its gradient goes; no node if it needs none.
Edge gradient_edge(const Tensor& t);
// Makes `t` result `output_nr` of a node.
void set_history(const Tensor& t, NodeRef node, uint32_t output_nr);

// Registers `view`, which shares storage with `of`, as its view.
void link_view(const Tensor& view, const Tensor& of, ViewOrigin origin = ViewOrigin::kRecorded);

// Makes a view a tensor of its own; its history stays.
void forget_base(const Tensor& view);

// Refuses to change an inference tensor outside of inference mode.
void check_inference(const Tensor& t);
// Refuses changes in place that would lose a gradient. `records_operand`: the operator records the
// change because of another argument.
void check_inplace(const Tensor& t, bool records_operand = false);
// `t` was changed in place by the operator that `node` records: its only result.
void rebase_history(const Tensor& t, NodeRef node);

// The elements of `t` have been exchanged: gradients must fit the new ones.
void note_new_data(const Tensor& t);
// The same elements and version, without history.
Tensor detached(const Tensor& t);
void detach_(const Tensor& t);

// Accumulates the gradient of a leaf. Owned by edges; the leaf points at it while it exists.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& variable);
  ~AccumulateGrad() override;
  const char* name() const override { return "AccumulateGrad"; }
  void apply(std::span<const Tensor> grads, Gradients& out) override;

  Tensor variable;
};

// Keeps the gradient of a result in its .grad.
void retain_grad(const Tensor& t);

// Adds `grad` to a leaf's .grad, in place if that cannot be observed.
void accumulate(const Tensor& variable, const Tensor& grad);

OutputMeta output_meta(const Tensor& t);
// Notes that the node has one more result, which is like `t`.
void add_output(Node& node, const Tensor& t);

}  // namespace fb::autograd
