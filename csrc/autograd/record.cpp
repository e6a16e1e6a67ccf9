// Recording an operator.
#include "autograd/record.h"

#include "core/profile.h"
#include "gen/ops/create.h"
#include "gen/ops/view.h"

namespace fb::autograd {

// Whether its gradient goes straight to the node that it names: most inputs are like that.
static bool is_result(const TensorImpl& t) {
  return t.grad_fn && !t.base && !(t.flags & (kBatched | kCut));
}

void Recorder::input(const Tensor& t) {
  const size_t index = count_++;
  if (!t) {
    edges_.emplace_back();
    return;
  }
  const bool wants_grad = requires_grad(t);
  const bool is_recorded = wants_grad && records_;
  if (!is_recorded)
    edges_.emplace_back();
  else if (is_result(*t.get()))
    edges_.push_back({NodeRef::retain(t->grad_fn), t->output_nr});
  else
    edges_.push_back(gradient_edge(t));
  const bool is_dual = flags_of(t) & kDual && !mode.quiet && has_tangent(t);
  if (is_dual) [[unlikely]]
    note_dual(index, t);
  const bool is_wanted = is_dual || is_recorded;
  connects_ |= is_recorded;
  if (is_wanted && index < 32)
    wanted_ |= 1u << index;
  else
    wants_beyond_ |= is_wanted;
  wants_node_ |= is_wanted;
  if (t->flags & kCut)
    cut_ = t->cut;
  else if (wants_grad && !records_ && !mode.quiet && !cut_)
    cut_ = mode.cut;
}

void Recorder::note_dual(size_t index, const Tensor& t) {
  if (!duals_) duals_ = std::make_unique<DualInputs>();
  duals_->add(index, t);
}

void Recorder::prepare(Node* node) {
  node->wanted = wanted_;
  node->sequence = next_sequence();
  node->location = SourceLocation::here();
  if (profile::is_on()) [[unlikely]]
    profile::note_node(node->sequence);
  node->edges = std::move(edges_);
}

void Recorder::note_cut(const Tensor& result) const {
  if (!cut_ || !result || result->grad_fn || result->flags & kRequiresGrad) return;
  result->cut = cut_;
  result->flags |= kCut;
}

void Recorder::attach(const NodeRef& node, TensorList results, uint32_t differentiable) const {
  for (size_t i = 0; i < results.size(); ++i) {
    add_output(*node, results[i]);
    const DType dtype = results[i].dtype();
    if (connects_ && (i >= 32 || differentiable >> i & 1) &&
        (is_floating(dtype) || is_complex(dtype)))
      set_history(results[i], node, static_cast<uint32_t>(i));
  }
}

void Recorder::attach_inplace(const NodeRef& node, const Tensor& self) const {
  add_output(*node, self);
  if (connects_) rebase_history(self, node);
}

void follow_replay(const Tensor& input, const Tensor& view) {
  if (!input->autograd->replay || !view->base) return;
  const int64_t shift = view.offset() - input.offset();
  meta_of(view).replay = [before = input->autograd->replay, sizes = view.sizes().vec(),
                          strides = view.strides().vec(), shift](const Tensor& base) {
    const Tensor on = before(base);
    return ops::as_strided(on, sizes, strides, on.offset() + shift);
  };
}

Tensor as_retyped_view_of(const Tensor& input, Tensor result,
                          std::function<Tensor(const Tensor&)> again) {
  link_view(result, input, origin_now(ViewOrigin::kRecorded));
  if (!result->base || result.is_same(input)) return result;
  std::function<Tensor(const Tensor&)> before;
  if (input->autograd) before = input->autograd->replay;
  const bool is_whole = !input->base;
  meta_of(result).replay = [=, sizes = input.sizes().vec(), strides = input.strides().vec(),
                            offset = input.offset()](const Tensor& base) {
    if (before) return again(before(base));
    return again(is_whole ? base : ops::as_strided(base, sizes, strides, offset));
  };
  return result;
}

void refuse_derivative(const char* name) {
  fail(ErrorKind::kNotImplemented, "the derivative for '", name, "' is not implemented.");
}

void refuse_out(const char* name) {
  fail(ErrorKind::kRuntime, name,
       "(): functions with out=... arguments don't support automatic differentiation, but one of "
       "the arguments requires grad.");
}

void refuse_batched_out(const char* name) {
  fail(ErrorKind::kRuntime, "vmap: ", name,
       "(): functions with out=... arguments cannot be mapped; use the result instead.");
}

void refuse_batched_lists(const char* name) {
  fail(ErrorKind::kRuntime, "vmap: ", name,
       "(): functions that write to lists of tensors cannot be mapped.");
}

Tensor grad_or_zeros(const Tensor& grad, const OutputMeta& meta) {
  return grad ? grad : ops::zeros(meta.sizes, meta.dtype, meta.device);
}

}  // namespace fb::autograd
