// Attributes of a Tensor that concern the graph.
#include "autograd/history.h"
#include "bind/call.h"
#include "bind/hooks.h"
#include "bind/node_object.h"
#include "gen/ops/info.h"

namespace fb::bind {
namespace {

PyObject* get_requires_grad(PyObject* self, void*) {
  return wrap(autograd::requires_grad(tensor_of(self)));
}
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int("requires_grad", [&] {
    FB_CHECK(value && PyBool_Check(value), "must be a bool");
    autograd::set_requires_grad(tensor_of(self), value == Py_True);
    return 0;
  });
}

PyObject* get_grad(PyObject* self, void*) {
  return guarded("grad", [&] {
    const Tensor& t = tensor_of(self);
    if (t->autograd && t->autograd->grad) return wrap(t->autograd->grad);
    if (autograd::requires_grad(t) && !autograd::is_leaf(t) &&
        !(t->autograd && t->autograd->retains_grad)) {
      constexpr const char* kWarning =
          "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
          "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
          "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
          "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
          "instead.";
      if (PyErr_WarnEx(PyExc_UserWarning, kWarning, 1) < 0) throw PythonError{};
    }
    return none();
  });
}
// The same without the warning for tensors that are not leaves.
PyObject* get_grad_quietly(PyObject* self, void*) {
  const Tensor& t = tensor_of(self);
  return t->autograd && t->autograd->grad ? wrap(t->autograd->grad) : none();
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int("grad", [&] {
    const Tensor& t = tensor_of(self);
    if (!value || value == Py_None) {
      if (t->autograd) t->autograd->grad = Tensor();
      return 0;
    }
    FB_CHECK_TYPE(is_tensor(value),
                  "assigned grad expected to be a Tensor or None but got grad of type ",
                  Py_TYPE(value)->tp_name);
    const Tensor& grad = tensor_of(value);
    FB_CHECK(!grad.is_same(t), "can't assign Variable as its own grad");
    FB_CHECK(grad.dtype() == t.dtype(), "assigned grad has data of a different type: expected ",
             t.dtype(), ", got ", grad.dtype());
    FB_CHECK(grad.device() == t.device(),
             "assigned grad has data located on a different device: expected ", t.device(),
             ", got ", grad.device());
    FB_CHECK(grad.sizes() == t.sizes(), "assigned grad has data of a different size: expected ",
             t.sizes(), ", got ", grad.sizes());
    autograd::meta_of(t).grad = grad;
    return 0;
  });
}

PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded("grad_fn", [&] { return wrap_node(autograd::grad_fn(tensor_of(self))); });
}
PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded("is_leaf", [&] { return wrap(autograd::is_leaf(tensor_of(self))); });
}
PyObject* get_retains_grad(PyObject* self, void*) {
  const Tensor& t = tensor_of(self);
  return wrap(t->autograd && t->autograd->retains_grad);
}
PyObject* get_output_nr(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(tensor_of(self)->output_nr);
}
PyObject* get_base(PyObject* self, void*) {
  return guarded("_base", [&] {
    const Tensor& t = tensor_of(self);
    TensorImpl* base = ops::_is_view(t) ? t->base : nullptr;
    return base ? wrap(Tensor::retain(base)) : none();
  });
}

PyObject* get_hooks(PyObject* self, void*) {
  return guarded("_backward_hooks", [&] { return tensor_hooks(tensor_of(self)); });
}
int set_hooks(PyObject* self, PyObject* value, void*) {
  return guarded_int("_backward_hooks", [&] {
    set_tensor_hooks(tensor_of(self), value);
    return 0;
  });
}

}  // namespace

const PyGetSetDef grad_properties[] = {
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients are wanted for it.",
     nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward() has accumulated, if any.", nullptr},
    {"_grad", get_grad_quietly, set_grad, "The same, without a warning.", nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The node that computed it, if it was recorded.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operator made it.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether retain_grad() was called.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which result of grad_fn it is.", nullptr},
    {"_base", get_base, nullptr, "The base of a view.", nullptr},
    {"_backward_hooks", get_hooks, set_hooks, "The hooks on its gradient by number.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace fb::bind
