// The node of a user's autograd.Function.
//
// Note [A node and its ctx]: a FunctionNode and the Python object that users know as `ctx` and as
// `grad_fn` live together. The object owns the node. While the graph refers to the node, the node
// in turn holds a reference to the object; when the graph drops the node, that reference goes, and
// both live as long as Python has the object.
#pragma once

#include "autograd/saved.h"
#include "bind/node_object.h"

namespace fb::bind {

// What `forward` leaves for `backward`. `node.node` is not counted in the node's own references.
struct PyContext {
  PyNode node;
  PyObject* dict;
  // Set by the methods of FunctionCtx; null, or what the user gave.
  PyObject* to_save;
  PyObject* saved_for_forward;
  PyObject* dirty_tensors;
  PyObject* non_differentiable;
  PyObject* needs_input_grad;
  char materialize_grads;
};

class FunctionNode final : public autograd::Node {
 public:
  explicit FunctionNode(PyContext* context);

  const char* name() const override;
  const char* operator_name() const override;
  void apply(std::span<const Tensor> grads, autograd::Gradients& out) override;
  void release_saved() override { saved.release(); }

  // A reference for the graph to a node that so far perhaps only Python held.
  static autograd::NodeRef retain(PyContext* context);

  autograd::SavedTensors saved;
  bool has_saved = false;
  // For every argument of `forward` its position in `edges`, or kNoEdge if it was not a tensor.
  std::vector<int> edge_of_argument;
  static constexpr int kNoEdge = -1;
  std::vector<bool> is_tensor_output;

 protected:
  void dispose() override;

 private:
  Ref gradients_for_backward(std::span<const Tensor> grads) const;

  PyContext* context_;
  mutable std::string operator_name_;
};

// A new object of a subclass of the type behind flambeau.autograd.function.BackwardCFunction.
Ref new_context(PyTypeObject* type);
inline FunctionNode& node_of(PyContext* context) {
  return static_cast<FunctionNode&>(*context->node.node);
}

void add_context_type(PyObject* module);

}  // namespace fb::bind
