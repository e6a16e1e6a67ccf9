// Nodes as users see them: grad_fn, next_functions, hooks.
#include "bind/node_object.h"

#include <string>
#include <unordered_map>

#include "autograd/history.h"
#include "bind/call.h"
#include "bind/function_node.h"
#include "bind/hooks.h"

namespace fb::bind {

PyTypeObject* node_type = nullptr;

namespace {

using autograd::Edge;
using autograd::Node;
using autograd::NodeRef;

void node_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<PyNode*>(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->metadata);
  if (object->node && object->node->python_object == self) object->node->python_object = nullptr;
  object->node.~NodeRef();
  type->tp_free(self);
  Py_DECREF(type);
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
  const auto* object = reinterpret_cast<PyNode*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object->metadata);
  // A node that the graph also holds keeps its hooks.
  const bool is_alone = object->node && object->node->refs.load(std::memory_order_relaxed) == 1;
  return is_alone ? visit_hooks(*object->node, visit, arg) : 0;
}

int node_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PyNode*>(self)->metadata);
  return 0;
}

PyObject* node_repr(PyObject* self) {
  return PyUnicode_FromFormat("<%s object at %p>", node_of(self).name(), self);
}

PyObject* get_next_functions(PyObject* self, void*) {
  return guarded("next_functions", [&] {
    const Node& node = node_of(self);
    Ref result = checked(PyTuple_New(static_cast<Py_ssize_t>(node.edges.size())));
    for (size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      Ref pair = checked(PyTuple_New(2));
      PyTuple_SET_ITEM(pair.get(), 0, wrap_node(edge.node));
      PyTuple_SET_ITEM(pair.get(), 1, PyLong_FromUnsignedLong(edge.output_nr));
      PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), pair.release());
    }
    return result.release();
  });
}

PyObject* get_metadata(PyObject* self, void*) {
  auto* object = reinterpret_cast<PyNode*>(self);
  if (!object->metadata) {
    object->metadata = PyDict_New();
    // The node keeps it for the next object around it; a user's Function has one object for good.
    if (object->metadata && !object->node->is_python)
      object->node->hooks_or_new().metadata = shared(object->metadata);
  }
  Py_XINCREF(object->metadata);
  return object->metadata;
}

PyObject* get_variable(PyObject* self, void*) {
  return guarded("variable", [&] {
    auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(&node_of(self));
    if (!leaf) {
      PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'",
                   node_of(self).name());
      throw PythonError{};
    }
    return wrap(leaf->variable);
  });
}

PyObject* get_sequence(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(node_of(self).sequence);
}

PyObject* get_described(PyObject* self, void*) {
  return PyUnicode_FromString(node_of(self).described().c_str());
}

// `_saved_self` and the other saved values.
PyObject* node_getattro(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const char* text = PyUnicode_AsUTF8(name);
  if (!text || std::string_view(text).substr(0, 7) != "_saved_") return nullptr;
  PyErr_Clear();
  return guarded(nullptr, [&]() -> PyObject* {
    for (const auto& [key, value] : node_of(self).saved_tensors())
      if (std::string_view(text).substr(7) == key) return value ? wrap(value) : none();
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'", node_of(self).name(),
                 text);
    throw PythonError{};
  });
}

PyObject* node_name(PyObject* self, PyObject*) {
  return PyUnicode_FromString(node_of(self).name());
}

PyObject* node_register_hook(PyObject* self, PyObject* hook) {
  return guarded("register_hook", [&] { return add_node_hook(node_of(self), hook, false); });
}

PyObject* node_register_prehook(PyObject* self, PyObject* hook) {
  return guarded("register_prehook", [&] { return add_node_hook(node_of(self), hook, true); });
}

// Calls the node by hand: gradients of its results in, gradients of its inputs out.
PyObject* node_call(PyObject* self, PyObject* args, PyObject*) {
  return guarded(node_of(self).name(), [&] {
    Node& node = node_of(self);
    std::vector<Tensor> grads(node.outputs.size());
    FB_CHECK_TYPE(PyTuple_GET_SIZE(args) == static_cast<Py_ssize_t>(grads.size()), "expected ",
                  grads.size(), " gradients, got ", PyTuple_GET_SIZE(args));
    for (size_t i = 0; i < grads.size(); ++i) {
      PyObject* item = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
      if (item == Py_None) continue;
      FB_CHECK_TYPE(is_tensor(item), "gradients must be tensors or None");
      grads[i] = tensor_of(item);
    }
    autograd::Gradients out(node.edges.size());
    node.apply(grads, out);
    return wrap_gradients({out.data(), out.size()});
  });
}

PyMethodDef kMethods[] = {
    {"name", node_name, METH_NOARGS, "name($self, /)\n--\n\nThe name of the node: MulBackward0."},
    {"register_hook", node_register_hook, METH_O,
     "register_hook($self, fn, /)\n--\n\n"
     "Calls fn(grad_inputs, grad_outputs) after the node has run; returns a handle to remove "
     "it."},
    {"register_prehook", node_register_prehook, METH_O,
     "register_prehook($self, fn, /)\n--\n\n"
     "Calls fn(grad_outputs) before the node runs; returns a handle to remove it."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"next_functions", get_next_functions, nullptr, "The nodes that made the inputs.", nullptr},
    {"metadata", get_metadata, nullptr, "A dictionary for the user.", nullptr},
    {"variable", get_variable, nullptr, "Of AccumulateGrad: the leaf.", nullptr},
    {"_sequence_nr", get_sequence, nullptr, "Later operators have higher numbers.", nullptr},
    {"_described", get_described, nullptr, "Its name, the operator and where it was recorded.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyNode, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// The class of nodes of one name, made when the first of them is accessed.
PyTypeObject* class_named(const char* name) {
  static auto* classes = new std::unordered_map<std::string, PyTypeObject*>;
  const auto found = classes->try_emplace(std::string("flambeau.autograd.") + name, nullptr).first;
  PyTypeObject*& type = found->second;
  if (type) return type;
  const std::string& kept = found->first;  // type specs keep pointers to their names
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
                         {0, nullptr}};
  PyType_Spec spec = {kept.c_str(), sizeof(PyNode), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                      slots};
  const Ref bases = checked(PyTuple_Pack(1, node_type));
  type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()));
  if (!type) throw PythonError{};
  return type;
}

}  // namespace

NodeRef node_ref(PyObject* object) {
  if (node_of(object).is_python) return FunctionNode::retain(reinterpret_cast<PyContext*>(object));
  return reinterpret_cast<PyNode*>(object)->node;
}

PyObject* wrap_node(const NodeRef& node) {
  if (!node) return none();
  if (node->python_object) return new_ref(static_cast<PyObject*>(node->python_object));
  PyTypeObject* type = class_named(node->name());
  auto* object = reinterpret_cast<PyNode*>(type->tp_alloc(type, 0));
  if (!object) throw PythonError{};
  new (&object->node) NodeRef(node);
  if (node->hooks && node->hooks->metadata)
    object->metadata = new_ref(static_cast<PyObject*>(node->hooks->metadata.get()));
  node->python_object = object;
  return reinterpret_cast<PyObject*>(object);
}

void add_node_type(PyObject* module) {
  const auto slot = [](int id, auto* function) {
    return PyType_Slot{id, reinterpret_cast<void*>(function)};
  };
  PyType_Slot slots[] = {
      slot(Py_tp_dealloc, node_dealloc),
      slot(Py_tp_traverse, node_traverse),
      slot(Py_tp_clear, node_clear),
      slot(Py_tp_repr, node_repr),
      slot(Py_tp_call, node_call),
      slot(Py_tp_getattro, node_getattro),
      {Py_tp_methods, kMethods},
      {Py_tp_getset, kProperties},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("A recorded operator: a node of the graph.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"flambeau._C.Node", sizeof(PyNode), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!node_type) throw PythonError{};
  PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(node_type));
}

}  // namespace fb::bind
