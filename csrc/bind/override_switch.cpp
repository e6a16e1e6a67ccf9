// What Python sees of overriding: switches that turn it off, the stack of modes, and the tests and
// calls that torch.overrides is made of.
#include "bind/override.h"
#include "bind/python.h"

namespace fb::bind {
namespace {

// --- with DisableTorchFunctionSubclass(): ...

struct PyOverrideSwitch {
  PyObject_HEAD OverrideLevel previous;
};

template <OverrideLevel kLevel>
PyObject* enter(PyObject* self, PyObject*) {
  reinterpret_cast<PyOverrideSwitch*>(self)->previous = set_override_level(kLevel);
  return new_ref(self);
}

PyObject* leave(PyObject* self, PyObject*) {
  set_override_level(reinterpret_cast<PyOverrideSwitch*>(self)->previous);
  return none();
}

template <OverrideLevel kLevel>
void add_switch(PyObject* module, const char* full_name, const char* name, const char* doc) {
  static PyMethodDef methods[] = {{"__enter__", enter<kLevel>, METH_NOARGS, nullptr},
                                  {"__exit__", leave, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_methods, methods},
                         {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                         {Py_tp_doc, const_cast<char*>(doc)},
                         {0, nullptr}};
  PyType_Spec spec = {full_name, sizeof(PyOverrideSwitch), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  PyModule_AddObjectRef(module, name, type.get());
}

// Overriding at another level while a function runs.
class AtLevel {
 public:
  explicit AtLevel(OverrideLevel level) : previous_(set_override_level(level)) {}
  ~AtLevel() { set_override_level(previous_); }
  AtLevel(const AtLevel&) = delete;

 private:
  OverrideLevel previous_;
};

// As the __torch_function__ of a class: its objects are tensors like any other.
PyObject* run_undisturbed(PyObject*, PyObject* args, PyObject* kwargs) {
  PyObject *function = nullptr, *types = nullptr, *given = nullptr, *named = nullptr;
  static const char* keywords[] = {"func", "types", "args", "kwargs", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", const_cast<char**>(keywords), &function,
                                   &types, &given, &named))
    return nullptr;
  if (named && named != Py_None && !PyDict_Check(named)) {
    PyErr_Format(PyExc_TypeError,
                 "_disabled_torch_function_impl(): argument 'kwargs' must be dict, not %s",
                 Py_TYPE(named)->tp_name);
    return nullptr;
  }
  const Ref positional(given ? PySequence_Tuple(given) : PyTuple_New(0));
  if (!positional) return nullptr;
  const AtLevel level(OverrideLevel::kModesOnly);
  return PyObject_Call(function, positional.get(), named == Py_None ? nullptr : named);
}

// --- tests and calls

PyObject* has_override(PyObject*, PyObject* args) {
  const Ref items(PySequence_Fast(args, "expected a tuple or list of arguments"));
  if (!items) return nullptr;
  PyObject** item = PySequence_Fast_ITEMS(items.get());
  bool found = is_mode_active();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()) && !found; ++i)
    found = overrides(item[i]);
  return PyBool_FromLong(found);
}
PyObject* has_override_unary(PyObject*, PyObject* object) {
  return PyBool_FromLong(is_overridden(object));
}
PyObject* has_override_variadic(PyObject*, PyObject* const* args, Py_ssize_t count) {
  bool found = is_mode_active();
  for (Py_ssize_t i = 0; i < count && !found; ++i) found = overrides(args[i]);
  return PyBool_FromLong(found);
}

// (function, relevant arguments, args, kwargs)
PyObject* handle_override(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded(nullptr, [&] {
    FB_CHECK_TYPE(count == 4, "expected 4 arguments, got ", count);
    const Ref relevant = checked(PySequence_Fast(args[1], "expected a tuple or list of arguments"));
    return hand_over(args[0], PySequence_Fast_ITEMS(relevant.get()),
                     PySequence_Fast_GET_SIZE(relevant.get()), args[2], args[3]);
  });
}

PyObject* set_parameter_type(PyObject*, PyObject* type) {
  if (!PyType_Check(type)) {
    PyErr_SetString(PyExc_TypeError, "expected a class");
    return nullptr;
  }
  parameter_type = reinterpret_cast<PyTypeObject*>(new_ref(type));
  return none();
}

// --- modes

PyObject* push(PyObject*, PyObject* mode) {
  return guarded(nullptr, [&] {
    push_mode(mode);
    return none();
  });
}
PyObject* pop(PyObject*, PyObject*) {
  return guarded(nullptr, [] { return pop_mode().release(); });
}
// As a base class: see Note [Interrupts] in scope.cpp. It has no fields, so that a mode may inherit
// from other classes, too.
PyObject* enter_mode(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    push_mode(self);
    return new_ref(self);
  });
}
PyObject* leave_mode(PyObject*, PyObject* const*, Py_ssize_t) {
  return guarded(nullptr, [] {
    pop_mode();
    return none();
  });
}
PyMethodDef mode_methods[] = {
    {"__enter__", enter_mode, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave_mode)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

void add_mode_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_methods, mode_methods}, {0, nullptr}};
  PyType_Spec spec = {"flambeau._C._FunctionMode", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "_FunctionMode", type.get()) < 0) throw PythonError{};
}

PyObject* depth(PyObject*, PyObject*) { return PyLong_FromSsize_t(mode_depth()); }
PyObject* at(PyObject*, PyObject* index) {
  const Py_ssize_t wanted = PyLong_AsSsize_t(index);
  if (wanted == -1 && PyErr_Occurred()) return nullptr;
  if (PyObject* mode = mode_at(wanted)) return new_ref(mode);
  PyErr_Format(PyExc_IndexError, "there are %zd modes, and none at %zd", mode_depth(), wanted);
  return nullptr;
}

PyObject* is_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(override_level() == OverrideLevel::kAll);
}
PyObject* is_all_disabled(PyObject*, PyObject*) {
  return PyBool_FromLong(override_level() == OverrideLevel::kNone);
}
PyObject* is_mode_enabled(PyObject*, PyObject*) { return PyBool_FromLong(is_mode_active()); }

template <class F>
PyCFunction any(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef functions[] = {
    {"_disabled_torch_function_impl", any(run_undisturbed), METH_VARARGS | METH_KEYWORDS,
     "Calls func with overriding by classes turned off."},
    {"_has_torch_function", has_override, METH_O, "Whether one of the arguments overrides."},
    {"_has_torch_function_unary", has_override_unary, METH_O, "Whether the argument overrides."},
    {"_has_torch_function_variadic", any(has_override_variadic), METH_FASTCALL,
     "Whether one of the arguments overrides."},
    {"_handle_torch_function", any(handle_override), METH_FASTCALL,
     "Hands a call over to the mode and the arguments that override."},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, "Whether classes may override."},
    {"_is_torch_function_all_disabled", is_all_disabled, METH_NOARGS,
     "Whether neither classes nor modes may override."},
    {"_is_torch_function_mode_enabled", is_mode_enabled, METH_NOARGS, "Whether a mode is active."},
    {"_push_on_torch_function_stack", push, METH_O, "Makes a mode the innermost one."},
    {"_pop_torch_function_stack", pop, METH_NOARGS, "Takes the innermost mode off."},
    {"_len_torch_function_stack", depth, METH_NOARGS, "How many modes there are."},
    {"_get_function_stack_at", at, METH_O, "A mode, counted from the outermost."},
    {"_set_parameter_type", set_parameter_type, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_overrides(PyObject* module) {
  add_mode_type(module);
  if (PyModule_AddFunctions(module, functions) < 0) throw PythonError{};
  const Ref disabled = checked(PyObject_GetAttrString(module, "_disabled_torch_function_impl"));
  set_disabled_override(disabled.get());
  add_switch<OverrideLevel::kModesOnly>(module, "torch._C.DisableTorchFunctionSubclass",
                                        "DisableTorchFunctionSubclass",
                                        "Classes do not override while it is entered.");
  add_switch<OverrideLevel::kNone>(module, "torch._C.DisableTorchFunction", "DisableTorchFunction",
                                   "Neither classes nor modes override while it is entered.");
}

}  // namespace fb::bind
