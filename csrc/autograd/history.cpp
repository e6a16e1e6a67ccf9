// Where a tensor came from.
#include "autograd/history.h"

#include <limits>

#include "autograd/batch.h"
#include "autograd/copy_slices.h"
#include "autograd/node_streams.h"
#include "gen/ops/view.h"

namespace fb::autograd {
namespace {

void adopt(TensorImpl& impl, NodeRef node, uint32_t output_nr) {
  if (impl.flags & kCut) {
    impl.flags &= ~kCut;
    impl.grad_fn = nullptr;
  }
  Node* before = std::exchange(impl.grad_fn, node.leak());
  impl.output_nr = output_nr;
  impl.flags |= kRequiresGrad;
  if (before) before->drop();
}

void forget_retained(TensorImpl& impl) {
  if (!impl.autograd->retains_grad || !impl.grad_fn || impl.flags & kCut || !impl.grad_fn->hooks)
    return;
  std::erase_if(impl.grad_fn->hooks->retained,
                [&](const Hooks::Retained& r) { return r.tensor == &impl; });
}

// Gives a tensor that was changed in place its new history. retain_grad() then applies to the new
// value; hooks stay with the old one.
void change_history(const Tensor& t, NodeRef node) {
  if (t->autograd) forget_retained(*t.get());
  Node& now = *node;
  set_history(t, std::move(node), 0);
  if (!t->autograd) return;
  t->autograd->python_hooks.reset();
  if (t->autograd->retains_grad) now.hooks_or_new().retained.push_back({0, t.get()});
}

// The history of a view whose elements have changed: a view of its base.
NodeRef window_on_base(const Tensor& view, const Tensor& base) {
  const GradMode recording(true);
  const Tensor again = view->autograd && view->autograd->replay
                           ? view->autograd->replay(base)
                           : ops::as_strided(base, view.sizes(), view.strides(), view.offset());
  return NodeRef::retain(again->grad_fn);
}

std::string modified_view(const Tensor& t, const char* what) {
  const Node* node = t->flags & kCut ? nullptr : t->grad_fn;
  const ViewOrigin origin = t->view_origin;
  const bool is_unrecorded =
      origin == ViewOrigin::kNoGrad || origin == ViewOrigin::kInference || !node;
  std::string text = "A view was created in";
  if (node) {
    const std::string_view name = node->name();
    text = "Output " + std::to_string(t->output_nr) + " of " +
           std::string(name.substr(0, name.find("Backward"))) + " is a view";
    if (is_unrecorded) text += " of a view which was created in";
  }
  if (origin == ViewOrigin::kInference)
    return text + " inference mode and " + what + " modified inplace in normal mode.";
  if (is_unrecorded)
    return text + " no_grad mode and " + what + " modified inplace with grad mode enabled.";
  return text + " and " + what + " modified inplace.";
}

// Refuses to give a view a new history where that would not be its own.
void check_origin(const Tensor& t, const char* what) {
  if (t->view_origin == ViewOrigin::kRecorded) return;
  const std::string text = modified_view(t, what);
  const std::string made =
      t->grad_fn && !(t->flags & kCut) ? " It was made by " + t->grad_fn->described() + "." : "";
  switch (t->view_origin) {
    case ViewOrigin::kOneOfMany:
      fail(ErrorKind::kRuntime, text,
           " This view is the output of a function that returns multiple views. Such functions do "
           "not allow the output views to be modified inplace. You should replace the inplace "
           "operation by an out-of-place one.",
           made);
    case ViewOrigin::kFunction:
      fail(ErrorKind::kRuntime, text,
           " This view was created inside a custom Function (or because an input was returned "
           "as-is), and what is known of views would override the backward of the Function. You "
           "can fix this by cloning the output of the custom Function.",
           made);
    default:
      fail(ErrorKind::kRuntime, text,
           " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
           "clarify your code by moving both the view and the inplace operation inside the block, "
           "or both outside.",
           made);
  }
}

}  // namespace

void release(TensorImpl& impl) {
  if (impl.autograd) {
    forget_retained(impl);
    delete std::exchange(impl.autograd, nullptr);
  }
  if (impl.grad_fn && !(impl.flags & kCut)) impl.grad_fn->drop();
  if (impl.base) Tensor(std::exchange(impl.base, nullptr));
  if (impl.flags & kKeepsObject) object_hooks.release(impl.python_object);
}

Meta& meta_of(const Tensor& t) {
  if (!t->autograd) t->autograd = new Meta;
  return *t->autograd;
}

OutputMeta output_meta(const Tensor& t) { return {t.dtype(), t.device(), t.sizes().vec()}; }

void add_output(Node& node, const Tensor& t) {
  if (has_chosen_stream) [[unlikely]]
    note_stream(node, t.device());
  OutputMeta& meta = node.outputs.extend();
  meta.dtype = t.dtype();
  meta.device = t.device();
  meta.sizes.assign(t.sizes().begin(), t.sizes().end());
}

void set_requires_grad(const Tensor& t, bool wanted) {
  if (t->flags & kBatched) return set_requires_grad(t->autograd->batch, wanted);
  FB_CHECK(!wanted || is_floating(t.dtype()) || is_complex(t.dtype()),
           "only Tensors of floating point and complex dtype can require gradients, not ",
           t.dtype());
  if (!is_leaf(t)) {
    FB_CHECK(wanted,
             "you can only change requires_grad flags of leaf variables. If you want to use a "
             "computed variable in a subgraph that doesn't require differentiation use var_no_grad "
             "= var.detach().");
    return;
  }
  FB_CHECK(!wanted || mode.inference || !(t->flags & kInference),
           "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (t->flags & kCut) {
    t->flags &= ~kCut;
    t->grad_fn = nullptr;
  }
  if (wanted)
    t->flags |= kRequiresGrad;
  else
    t->flags &= ~kRequiresGrad;
}

NodeRef grad_fn(const Tensor& t) {
  if (t->flags & kBatched) return grad_fn(t->autograd->batch);
  if (t->base && t->base->flags & kRequiresGrad && t->history_version != t->storage->version) {
    check_origin(t, "its base or another view of its base has been");
    change_history(t, window_on_base(t, Tensor::retain(t->base)));
  }
  return t->flags & kCut ? NodeRef() : NodeRef::retain(t->grad_fn);
}

Edge gradient_edge(const Tensor& t) {
  if (t->flags & kBatched) return gradient_edge(t->autograd->batch);
  if (!requires_grad(t)) return {};
  if (NodeRef node = grad_fn(t)) return {std::move(node), t->output_nr};
  Meta& meta = meta_of(t);
  if (!meta.accumulator) return {NodeRef(new AccumulateGrad(t)), 0};
  return {NodeRef::retain(meta.accumulator), 0};
}

void set_history(const Tensor& t, NodeRef node, uint32_t output_nr) {
  adopt(*t.get(), std::move(node), output_nr);
  t->history_version = t->storage->version;
}

void link_view(const Tensor& view, const Tensor& of, ViewOrigin origin) {
  if (view.is_same(of) || !(view.storage() == of.storage())) return;
  if (view->base) {
    // An inner call of the operator has linked it; the operator's own origin counts.
    if (origin != ViewOrigin::kRecorded) view->view_origin = origin;
    return;
  }
  view->base = Tensor::retain(of->base ? of->base : of.get()).leak();
  view->flags |= kIsView | (of->flags & kInference);
  view->history_version = view->storage->version;
  view->view_origin = of->base && origin == ViewOrigin::kRecorded ? of->view_origin : origin;
}

void forget_base(const Tensor& view) {
  Tensor(std::exchange(view->base, nullptr));
  view->flags &= ~kIsView;
}

void check_inference(const Tensor& t) {
  FB_CHECK(mode.inference || !(t->flags & kInference),
           "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
           "a clone to get a normal tensor before doing inplace update.");
}

void check_inplace(const Tensor& t, bool records_operand) {
  check_inference(t);
  if (!is_recording()) return;
  if (t->base && (records_operand || requires_grad(t))) {
    check_origin(t, "is being");
    FB_CHECK(!requires_grad(t) || !is_leaf(Tensor::retain(t->base)),
             "a view of a leaf Variable that requires grad is being used in an in-place operation. "
             "Wrap the change in `with no_grad():` to change its values, or change a clone()");
  }
  FB_CHECK(t->base || !(t->flags & kRequiresGrad) || t->grad_fn,
           "a leaf Variable that requires grad is being used in an in-place operation. Wrap the "
           "change in `with no_grad():` to change its values, or change a clone()");
}

void rebase_history(const Tensor& t, NodeRef node) {
  if (!t->base) return change_history(t, std::move(node));
  const Tensor base = Tensor::retain(t->base);
  change_history(base, NodeRef(new CopySlices(base, t, std::move(node))));
  change_history(t, window_on_base(t, base));
}

void note_new_data(const Tensor& t) {
  if (t->autograd && t->autograd->accumulator)
    t->autograd->accumulator->outputs[0] = output_meta(t);
}

Tensor detached(const Tensor& t) {
  if (t->flags & kBatched)
    return make_batched(detached(t->autograd->batch), t->autograd->batch_level);
  if (t->flags & kSparse) return make_sparse(t.sizes(), sparse_parts(t));
  Tensor window = inner_view(t, t.sizes(), t.strides(), t.offset());
  window->deferred_layout = t->deferred_layout;
  window->flags |= t->flags & kInference;
  return window;
}

void detach_(const Tensor& t) {
  FB_CHECK(!t->base,
           "Can't detach views in-place. Use detach() instead. If you are using "
           "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
           "True, gradients are views of DDP buckets, and hence detach_() cannot be called.");
  if (t->autograd) forget_retained(*t.get());
  if (t->grad_fn && !(t->flags & kCut)) t->grad_fn->drop();
  const bool was_part = t->flags & kRequiresGrad;
  t->grad_fn = nullptr;
  t->output_nr = 0;
  t->flags &= ~(kRequiresGrad | kCut);
  if (was_part) {
    t->cut = cut_here("detach_");
    t->flags |= kCut;
  }
}

void retain_grad(const Tensor& t) {
  FB_CHECK(requires_grad(t), "can't retain_grad on Tensor that has requires_grad=False");
  const NodeRef node = grad_fn(t);
  Meta& meta = meta_of(t);
  if (!node || meta.retains_grad) return;
  meta.retains_grad = true;
  node->hooks_or_new().retained.push_back({t->output_nr, t.get()});
}

AccumulateGrad::AccumulateGrad(const Tensor& variable) : variable(variable) {
  sequence = std::numeric_limits<uint64_t>::max();
  is_accumulator = true;
  outputs.push_back(output_meta(variable));
  meta_of(variable).accumulator = this;
}

AccumulateGrad::~AccumulateGrad() {
  if (variable->autograd && variable->autograd->accumulator == this)
    variable->autograd->accumulator = nullptr;
}

void AccumulateGrad::apply(std::span<const Tensor> grads, Gradients&) {
  if (!grads[0] || !(variable->flags & kRequiresGrad)) return;
  accumulate(variable, grads[0]);
  const Meta& meta = meta_of(variable);
  if (meta.after_accumulation) meta.after_accumulation(variable);
}

}  // namespace fb::autograd
