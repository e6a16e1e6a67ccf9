// Step(function): a method that calls `function`, with the optimiser's hooks and those of all
// optimisers if there are any. It has a dictionary, so that it looks like the function.
#include "bind/optim_step.h"

#include <array>
#include <string>

#include "core/profile.h"

namespace fb::bind::optim {
namespace {

struct PyStep {
  PyObject_HEAD PyObject* function;
  PyObject* dict;
  vectorcallfunc vectorcall;
};

// What calls a function with hooks around it, and the dictionaries of hooks of all optimisers.
PyObject* call_with_hooks = nullptr;
std::array<PyObject*, 2> global_hooks = {};
std::array<PyObject*, 2> own_hooks = {};  // the names of the attributes

// The optimiser whose hooks are being called: the step of a base class that its step calls must not
// call them again.
constinit thread_local PyObject* inside = nullptr;

class Inside {
 public:
  explicit Inside(PyObject* optimizer) : before_(std::exchange(inside, optimizer)) {}
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  PyObject* before_;
};

// An optimiser whose class has not called Optimizer.__init__ has none.
bool has_own_hooks(PyObject* optimizer) {
  for (PyObject* name : own_hooks) {
    const Ref hooks(PyObject_GetAttr(optimizer, name));
    if (!hooks && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
    PyErr_Clear();
    if (hooks && PyDict_Check(hooks.get()) && PyDict_GET_SIZE(hooks.get()) != 0) return true;
  }
  return false;
}

bool has_hooks(PyObject* optimizer) {
  for (PyObject* hooks : global_hooks)
    if (hooks && PyDict_GET_SIZE(hooks) != 0) return true;
  return has_own_hooks(optimizer);
}

PyObject* call_hooks(PyObject* function, PyObject* const* args, Py_ssize_t count,
                     PyObject* kwnames) {
  const Ref positional = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.get(), i, new_ref(args[i]));
  const Ref named = checked(PyDict_New());
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0)
      throw PythonError{};
  return PyObject_CallFunctionObjArgs(call_with_hooks, function, positional.get(), named.get(),
                                      nullptr);
}

// As profiles show a step: "Optimizer.step#SGD.step".
std::string range_name(PyObject* optimizer) {
  return std::string("Optimizer.step#") + Py_TYPE(optimizer)->tp_name + ".step";
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* kwnames) {
  return guarded(nullptr, [&] {
    PyObject* function = reinterpret_cast<PyStep*>(self)->function;
    const Py_ssize_t count = PyVectorcall_NARGS(flagged);
    profile::Span span;
    if (profile::is_on() && count > 0 && args[0] != inside) [[unlikely]]
      span.open_as(profile::Kind::kRange, range_name(args[0]));
    if (count > 0 && call_with_hooks && args[0] != inside && has_hooks(args[0])) {
      const Inside once(args[0]);
      return call_hooks(function, args, count, kwnames);
    }
    return PyObject_Vectorcall(function, args, flagged, kwnames);
  });
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : new_ref(self);
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function = nullptr;
  if (kwargs && PyDict_GET_SIZE(kwargs) != 0) {
    PyErr_SetString(PyExc_TypeError, "Step() takes no keyword arguments");
    return nullptr;
  }
  if (!PyArg_ParseTuple(args, "O:Step", &function)) return nullptr;
  if (!PyCallable_Check(function)) {
    PyErr_Format(PyExc_TypeError, "Step: expected a function, got %s", Py_TYPE(function)->tp_name);
    return nullptr;
  }
  auto* step = reinterpret_cast<PyStep*>(type->tp_alloc(type, 0));
  if (!step) return nullptr;
  step->function = new_ref(function);
  step->vectorcall = call;
  return reinterpret_cast<PyObject*>(step);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyStep*>(self)->function);
  Py_VISIT(reinterpret_cast<PyStep*>(self)->dict);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PyStep*>(self)->function);
  Py_CLEAR(reinterpret_cast<PyStep*>(self)->dict);
  return 0;
}

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyStep, dict), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyStep, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

// set_step_hooks(call_with_hooks, pre, post).
PyObject* set_step_hooks(PyObject*, PyObject* args) {
  PyObject *caller = nullptr, *pre = nullptr, *post = nullptr;
  if (!PyArg_ParseTuple(args, "OO!O!", &caller, &PyDict_Type, &pre, &PyDict_Type, &post))
    return nullptr;
  Py_XSETREF(call_with_hooks, new_ref(caller));
  Py_XSETREF(global_hooks[0], new_ref(pre));
  Py_XSETREF(global_hooks[1], new_ref(post));
  return none();
}

PyMethodDef functions[] = {{"set_step_hooks", set_step_hooks, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_step_type(PyObject* module) {
  own_hooks = {PyUnicode_InternFromString("_optimizer_step_pre_hooks"),
               PyUnicode_InternFromString("_optimizer_step_post_hooks")};
  PyType_Slot slots[] = {{Py_tp_new, slot(make)},
                         {Py_tp_call, slot(PyVectorcall_Call)},
                         {Py_tp_descr_get, slot(bind)},
                         {Py_tp_traverse, slot(traverse)},
                         {Py_tp_clear, slot(clear)},
                         {Py_tp_dealloc, slot(drop)},
                         {Py_tp_members, members},
                         {Py_tp_getset, properties},
                         {0, nullptr}};
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                              Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec = {"flambeau._C._optim.Step", sizeof(PyStep), 0, kFlags, slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "Step", type.get()) < 0 ||
      PyModule_AddFunctions(module, functions) < 0)
    throw PythonError{};
}

}  // namespace fb::bind::optim
