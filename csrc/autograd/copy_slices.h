// The change of a part of a tensor through a view. See Note [Views and in-place changes].
#pragma once

#include "autograd/history.h"

namespace fb::autograd {

class CopySlices final : public Node {
 public:
  // `changed` is the operator's node; its first input was the view.
  CopySlices(const Tensor& base, const Tensor& view, NodeRef changed);

  const char* name() const override { return "CopySlices"; }
  const char* operator_name() const override { return changed_->operator_name(); }
  void apply(std::span<const Tensor> grads, Gradients& out) override;
  void release_saved() override;

 private:
  // The window on (a copy of) the base's gradient where the view was.
  Tensor window(const Tensor& on) const;

  NodeRef changed_;
  OutputMeta base_;
  Dims base_strides_;
  int64_t base_offset_;
  Dims sizes_, strides_;
  int64_t offset_;
  std::function<Tensor(const Tensor&)> replay_;
};

}  // namespace fb::autograd
