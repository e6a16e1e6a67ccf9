// The node of a user's autograd.Function: its backward, and the object that Python sees.
#include "bind/function_node.h"

#include "autograd/record.h"
#include "bind/call.h"
#include "bind/ending.h"
#include "bind/hooks.h"

namespace fb::bind {
namespace {

PyObject* as_object(PyContext* context) { return reinterpret_cast<PyObject*>(context); }

}  // namespace

FunctionNode::FunctionNode(PyContext* context) : context_(context) {
  refs = 0;
  is_python = true;
  python_object = context;
}

autograd::NodeRef FunctionNode::retain(PyContext* context) {
  FunctionNode& node = node_of(context);
  if (node.refs.fetch_add(1, std::memory_order_relaxed) == 0) Py_INCREF(context);
  return autograd::NodeRef(&node);
}

void FunctionNode::dispose() {
  if (const LockToDrop lock; lock) Py_DECREF(context_);
}

const char* FunctionNode::name() const { return Py_TYPE(context_)->tp_name; }

const char* FunctionNode::operator_name() const {
  if (operator_name_.empty()) {
    operator_name_ = name();
    constexpr std::string_view kSuffix = "Backward";
    if (operator_name_.ends_with(kSuffix))
      operator_name_.resize(operator_name_.size() - kSuffix.size());
  }
  return operator_name_.c_str();
}

// Outputs that got no gradient have zeros or None.
Ref FunctionNode::gradients_for_backward(std::span<const Tensor> grads) const {
  std::vector<Tensor> given(grads.begin(), grads.end());
  for (size_t i = 0; i < given.size(); ++i)
    if (is_tensor_output[i] && context_->materialize_grads)
      given[i] = autograd::grad_or_zeros(given[i], outputs[i]);
  return checked(wrap_gradients(given));
}

void FunctionNode::apply(std::span<const Tensor> grads, autograd::Gradients& out) {
  static PyObject* const method = PyUnicode_InternFromString("apply");
  const Ref backward = checked(PyObject_GetAttr(as_object(context_), method));
  const Ref given = gradients_for_backward(grads);
  const Ref returned = checked(PyObject_CallObject(backward.get(), given.get()));

  PyObject* const single[] = {returned.get()};
  const bool is_tuple = PyTuple_Check(returned.get());
  PyObject* const* items = is_tuple ? PySequence_Fast_ITEMS(returned.get()) : single;
  const size_t returned_count = is_tuple ? static_cast<size_t>(PyTuple_Size(returned.get())) : 1;
  size_t count = returned_count;
  // Extra gradients are accepted if they are None.
  while (count > edge_of_argument.size() && items[count - 1] == Py_None) --count;
  FB_CHECK(count == edge_of_argument.size(), "function ", name(),
           " returned an incorrect number of gradients (expected ", edge_of_argument.size(),
           ", got ", returned_count, ")");
  for (size_t i = 0; i < count; ++i) {
    if (items[i] == Py_None) continue;
    FB_CHECK(is_tensor(items[i]), "function ", name(), " returned a gradient at position ", i + 1,
             " that is not a tensor: expected Variable or None (got ", Py_TYPE(items[i])->tp_name,
             ")");
    const int edge = edge_of_argument[i];
    FB_CHECK(edge != kNoEdge, "function ", name(),
             " returned a gradient different than None at position ", i + 1,
             ", but the corresponding forward input was not a Variable");
    out[static_cast<size_t>(edge)] = tensor_of(items[i]);
  }
}

namespace {

PyTypeObject* context_type = nullptr;

PyContext* as_context(PyObject* object) { return reinterpret_cast<PyContext*>(object); }

PyObject* context_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded(nullptr, [&] { return new_context(type).release(); });
}

int context_clear(PyObject* self) {
  PyContext* context = as_context(self);
  Py_CLEAR(context->node.metadata);
  Py_CLEAR(context->dict);
  Py_CLEAR(context->to_save);
  Py_CLEAR(context->saved_for_forward);
  Py_CLEAR(context->dirty_tensors);
  Py_CLEAR(context->non_differentiable);
  Py_CLEAR(context->needs_input_grad);
  return 0;
}

int context_traverse(PyObject* self, visitproc visit, void* arg) {
  PyContext* context = as_context(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(context->node.metadata);
  Py_VISIT(context->dict);
  Py_VISIT(context->to_save);
  Py_VISIT(context->saved_for_forward);
  Py_VISIT(context->dirty_tensors);
  Py_VISIT(context->non_differentiable);
  Py_VISIT(context->needs_input_grad);
  // The object owns its node.
  return context->node.node ? visit_hooks(*context->node.node, visit, arg) : 0;
}

void context_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (as_context(self)->node.weak_references) PyObject_ClearWeakRefs(self);
  context_clear(self);
  delete as_context(self)->node.node.leak();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_saved_tensors(PyObject* self, void*) {
  return guarded("saved_tensors", [&]() -> PyObject* {
    PyContext* context = as_context(self);
    FunctionNode& node = node_of(context);
    if (!node.has_saved && context->saved_for_forward) return new_ref(context->saved_for_forward);
    // A saved tensor may refer to this node as its history.
    const autograd::NodeRef held = FunctionNode::retain(context);
    if (node.released && node.has_saved) autograd::fail_released(node);
    return wrap_gradients(node.saved.unpack(node));
  });
}

PyGetSetDef kProperties[] = {
    {"saved_tensors", get_saved_tensors, nullptr, "What save_for_backward was given.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef kMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyContext, dict), READONLY, nullptr},
    {"to_save", T_OBJECT, offsetof(PyContext, to_save), 0, nullptr},
    {"saved_for_forward", T_OBJECT, offsetof(PyContext, saved_for_forward), 0, nullptr},
    {"dirty_tensors", T_OBJECT, offsetof(PyContext, dirty_tensors), 0, nullptr},
    {"non_differentiable", T_OBJECT, offsetof(PyContext, non_differentiable), 0, nullptr},
    {"needs_input_grad", T_OBJECT, offsetof(PyContext, needs_input_grad), 0, nullptr},
    {"materialize_grads", T_BOOL, offsetof(PyContext, materialize_grads), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

Ref new_context(PyTypeObject* type) {
  Ref object = checked(type->tp_alloc(type, 0));
  PyContext* context = as_context(object.get());
  context->materialize_grads = 1;
  new (&context->node.node) autograd::NodeRef(new FunctionNode(context));
  return object;
}

void add_context_type(PyObject* module) {
  const auto slot = [](int id, auto* function) {
    return PyType_Slot{id, reinterpret_cast<void*>(function)};
  };
  PyType_Slot slots[] = {
      slot(Py_tp_new, context_new),
      slot(Py_tp_dealloc, context_dealloc),
      slot(Py_tp_traverse, context_traverse),
      slot(Py_tp_clear, context_clear),
      slot(Py_tp_getattro, PyObject_GenericGetAttr),
      {Py_tp_getset, kProperties},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("The node of a Function, and the ctx of its methods.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"flambeau._C._FunctionNode", sizeof(PyContext), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  const Ref bases = checked(PyTuple_Pack(1, node_type));
  context_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()));
  if (!context_type) throw PythonError{};
  PyModule_AddObjectRef(module, "_FunctionNode", reinterpret_cast<PyObject*>(context_type));
}

}  // namespace fb::bind
