// no_grad and enable_grad as context managers: training loops enter them often, so they are native.
#include "bind/grad_switch.h"

#include "autograd/mode.h"
#include "bind/call.h"

namespace fb::bind {
namespace {

struct PySwitch {
  PyObject_HEAD uint64_t previous;  // one bit for each time that it was entered and not left
  int depth;
};

constexpr int kDeepest = 64;

// With a function, as `@no_grad` without parentheses gives, what the new object makes of it.
PyObject* switch_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded(nullptr, [&] {
    const Py_ssize_t count = PyTuple_GET_SIZE(args) + (kwargs ? PyDict_GET_SIZE(kwargs) : 0);
    FB_CHECK_TYPE(count <= 1, type->tp_name, " takes at most one argument, got ", count);
    Ref made = checked(type->tp_alloc(type, 0));
    PyObject* function = nullptr;
    if (PyTuple_GET_SIZE(args) == 1) function = PyTuple_GET_ITEM(args, 0);
    if (kwargs) function = PyDict_GetItemString(kwargs, "orig_func");
    FB_CHECK_TYPE(function || count == 0, type->tp_name, " takes no argument but orig_func");
    if (!function || function == Py_None) return made.release();
    return checked(PyObject_CallOneArg(made.get(), function)).release();
  });
}

void switch_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

template <bool kEnabled>
PyObject* enter(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    auto* object = reinterpret_cast<PySwitch*>(self);
    FB_CHECK(object->depth < kDeepest, "one object was entered ", kDeepest, " times");
    object->previous = object->previous << 1 | autograd::set_grad_enabled(kEnabled);
    ++object->depth;
    return none();
  });
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded(nullptr, [&] {
    auto* object = reinterpret_cast<PySwitch*>(self);
    FB_CHECK(object->depth > 0, "left without being entered");
    autograd::mode.grad_enabled = object->previous & 1;
    object->previous >>= 1;
    --object->depth;
    return none();
  });
}

template <bool kEnabled>
void add_switch(PyObject* module, const char* full_name, const char* name) {
  static PyMethodDef methods[] = {
      {"__enter__", enter<kEnabled>, METH_NOARGS, nullptr},
      {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)),
       METH_FASTCALL, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(switch_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(switch_dealloc)},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  PyType_Spec spec = {full_name, sizeof(PySwitch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  PyModule_AddObjectRef(module, name, type.get());
}

}  // namespace

void add_grad_switches(PyObject* module) {
  add_switch<false>(module, "flambeau._C._NoGrad", "_NoGrad");
  add_switch<true>(module, "flambeau._C._EnableGrad", "_EnableGrad");
}

}  // namespace fb::bind
