// The change of a part of a tensor through a view.
#include "autograd/copy_slices.h"

#include "autograd/engine.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/view.h"

namespace fb::autograd {

CopySlices::CopySlices(const Tensor& base, const Tensor& view, NodeRef changed)
    : changed_(std::move(changed)),
      base_(output_meta(base)),
      base_strides_(base.strides().vec()),
      base_offset_(base.offset()),
      sizes_(view.sizes().vec()),
      strides_(view.strides().vec()),
      offset_(view.offset()) {
  if (view->autograd) replay_ = view->autograd->replay;
  sequence = next_sequence();
  outputs.push_back(base_);
  location = SourceLocation::here();
  edges.push_back(gradient_edge(base));
  for (size_t i = 1; i < changed_->edges.size(); ++i) edges.push_back(changed_->edges[i]);
  wanted = (changed_->wanted & ~1u) | static_cast<uint32_t>(static_cast<bool>(edges[0].node));
}

Tensor CopySlices::window(const Tensor& on) const {
  return replay_ ? replay_(on)
                 : ops::as_strided(on, sizes_, strides_, offset_ - base_offset_ + on.offset());
}

void CopySlices::apply(std::span<const Tensor> grads, Gradients& out) {
  if (released) fail_released(*this);
  // A copy with the strides of the base, so that the view's window fits it.
  const Tensor whole = ops::new_empty_strided(grads[0], base_.sizes, base_strides_, base_.dtype);
  ops::copy_(whole, grads[0]);
  const Tensor part = ops::clone(window(whole));
  const Tensor in[] = {part};
  Gradients results = call(*changed_, in);
  if (edges[0].node) {
    const Tensor target = window(whole);
    if (results[0])
      ops::copy_(target, results[0]);
    else
      ops::zero_(target);
    out[0] = whole;
  }
  for (size_t i = 1; i < results.size(); ++i) out[i] = results[i];
}

void CopySlices::release_saved() {
  // A second derivative through a saved result leads to the node itself; then the run releases it.
  if (changed_->refs.load(std::memory_order_relaxed) == 1) changed_->release_saved();
}

}  // namespace fb::autograd
