// The Python object around a node of the graph.
#pragma once

#include "autograd/node.h"
#include "bind/python.h"

namespace fb::bind {

struct PyNode {
  PyObject_HEAD autograd::NodeRef node;
  PyObject* metadata;  // a dictionary for the user, made when first asked for
  PyObject* weak_references;
};

extern PyTypeObject* node_type;  // the base of MulBackward0 and the others

inline bool is_node(PyObject* object) { return PyObject_TypeCheck(object, node_type); }
inline autograd::Node& node_of(PyObject* object) {
  return *reinterpret_cast<PyNode*>(object)->node;
}

// A reference for the graph.
autograd::NodeRef node_ref(PyObject* object);

// A new reference to the node's Python object, made if there is none; None for no node.
PyObject* wrap_node(const autograd::NodeRef& node);

void add_node_type(PyObject* module);

}  // namespace fb::bind
