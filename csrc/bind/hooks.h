// Python functions on gradients.
#pragma once

#include "autograd/node.h"
#include "bind/python.h"

namespace fb::bind {

// An owned reference that hooks can share.
std::shared_ptr<PyObject> shared(PyObject* object);

// The dictionary of a tensor's hooks, None if it has none; setting it registers its functions.
PyObject* tensor_hooks(const Tensor& t);
void set_tensor_hooks(const Tensor& t, PyObject* dict);
// The functions in `dict` are called with the leaf whenever its .grad is complete.
void set_accumulation_hooks(const Tensor& leaf, PyObject* dict);
// Registers a hook on a node; returns a handle that removes it.
PyObject* add_node_hook(autograd::Node& node, PyObject* hook, bool before);

// For the cycle collector: the Python objects that a node holds. The visitor must be the only owner
// of the node, or the collector would take these objects for garbage while the graph still needs
// them.
int visit_hooks(const autograd::Node& node, visitproc visit, void* arg);

// A tuple of tensors and None.
PyObject* wrap_gradients(std::span<const Tensor> gradients);

}  // namespace fb::bind
