// no_grad, enable_grad and set_grad_enabled as context managers. They are native because training
// loops enter them often, and because an interrupt must not leave them half done: see Note
// [Interrupts].
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

// With a function, as in `@no_grad` without parentheses, returns the decorated function.
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
    FB_CHECK(object->depth < kDeepest, "the same object was entered ", kDeepest, " times");
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

// --- set_grad_enabled: the call itself switches, and the outermost block restores the mode from
// before it

struct PySetGrad {
  PySwitch blocks;
  char mode;
  char before;
};

int set_grad_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* keywords[] = {"mode", nullptr};
  int mode = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "p:set_grad_enabled", const_cast<char**>(keywords),
                                   &mode))
    return -1;
  auto* object = reinterpret_cast<PySetGrad*>(self);
  object->mode = static_cast<char>(mode);
  return guarded_int(nullptr, [&] {
    object->before = autograd::set_grad_enabled(mode);
    return 0;
  });
}

PyObject* set_grad_enter(PyObject* self, PyObject*) {
  const auto* object = reinterpret_cast<PySetGrad*>(self);
  return object->mode ? enter<true>(self, nullptr) : enter<false>(self, nullptr);
}

// Undoes the call.
PyObject* set_grad_back(PyObject* self, PyObject*) {
  autograd::mode.grad_enabled = reinterpret_cast<PySetGrad*>(self)->before;
  return none();
}

PyObject* set_grad_leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  const Ref left(leave(self, nullptr, 0));
  if (!left) return nullptr;
  return reinterpret_cast<PySwitch*>(self)->depth == 0 ? set_grad_back(self, nullptr) : none();
}

PyMemberDef set_grad_members[] = {{"mode", T_BOOL, offsetof(PySetGrad, mode), READONLY, nullptr},
                                  {"prev", T_BOOL, offsetof(PySetGrad, before), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
PyMethodDef set_grad_methods[] = {
    {"__enter__", set_grad_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_grad_leave)),
     METH_FASTCALL, nullptr},
    {"_go_back", set_grad_back, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

void add_set_grad(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                         {Py_tp_init, reinterpret_cast<void*>(set_grad_init)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(switch_dealloc)},
                         {Py_tp_methods, set_grad_methods},
                         {Py_tp_members, set_grad_members},
                         {0, nullptr}};
  PyType_Spec spec = {"flambeau._C._SetGrad", sizeof(PySetGrad), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "_SetGrad", type.get()) < 0) throw PythonError{};
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
  add_set_grad(module);
}

}  // namespace fb::bind
