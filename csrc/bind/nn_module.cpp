// The base class of flambeau.nn.Module: calls, attributes that are members, and Sequential.
//
// Note [Native modules]: the class adds no fields to its objects, so that a module may inherit from
// any other Python class too. All state is in the object's dictionary, where users see and change
// it: `_parameters`, `_forward_hooks` and so on are looked up each time.
#include "bind/nn_module.h"

#include <array>
#include <vector>

#include "bind/profile.h"
#include "bind/tensor_object.h"

namespace fb::bind {
namespace {

// Names as Python objects, made once: a lookup compares pointers.
struct Names {
  PyObject* forward = PyUnicode_InternFromString("forward");
  PyObject* input = PyUnicode_InternFromString("input");
  PyObject* modules = PyUnicode_InternFromString("_modules");
  PyObject* getattr = PyUnicode_InternFromString("__getattr__");
  PyObject* getattribute = PyUnicode_InternFromString("__getattribute__");
  PyObject* setattr = PyUnicode_InternFromString("__setattr__");
  PyObject* set_member = PyUnicode_InternFromString("_fb_set_member");
  PyObject* call_with_hooks = PyUnicode_InternFromString("_fb_call_with_hooks");
  std::array<PyObject*, 3> members = {PyUnicode_InternFromString("_parameters"),
                                      PyUnicode_InternFromString("_buffers"), modules};
  std::array<PyObject*, 4> hooks = {
      PyUnicode_InternFromString("_backward_hooks"),
      PyUnicode_InternFromString("_backward_pre_hooks"),
      PyUnicode_InternFromString("_forward_hooks"),
      PyUnicode_InternFromString("_forward_pre_hooks"),
  };
};
const Names* names = nullptr;

// The dictionaries of hooks that all modules have in common.
std::array<PyObject*, 4> global_hooks = {};

// Called with a module, a name and the member found; its result is used instead. Null unless a
// tracer follows which members a network uses.
PyObject* member_hook = nullptr;

PyTypeObject* base_type = nullptr;
PyObject* own_getattr = nullptr;          // what `__getattr__` is unless a class overrides it
PyObject* object_getattribute = nullptr;  // and `__getattribute__`

// Null without an error if there is none. Held, like every dictionary that is searched: comparing
// names may run user code, which may drop it.
Ref dict_of(PyObject* self) {
  PyObject** dict = _PyObject_GetDictPtr(self);
  return Ref(dict && *dict ? new_ref(*dict) : nullptr);
}

// --- attributes

// Null if no member has the name, or if an error is set.
Ref find_member(PyObject* own, PyObject* name) {
  if (!own) return Ref();
  for (PyObject* kind : names->members) {
    PyObject* members = PyDict_GetItemWithError(own, kind);
    if (!members || !PyDict_Check(members)) {
      if (PyErr_Occurred()) return Ref();
      continue;
    }
    const Ref kept(new_ref(members));
    PyObject* found = PyDict_GetItemWithError(members, name);
    if (found) return Ref(new_ref(found));
    if (PyErr_Occurred()) return Ref();
  }
  return Ref();
}

PyObject* get_member(PyObject* self, PyObject* own, PyObject* name) {
  if (Ref found = find_member(own, name)) {
    if (!member_hook) [[likely]]
      return found.release();
    const Ref hook(new_ref(member_hook));
    return PyObject_CallFunctionObjArgs(hook.get(), self, name, found.get(), nullptr);
  }
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_AttributeError, "'%.200s' object has no attribute '%S'",
                 Py_TYPE(self)->tp_name, name);
  return nullptr;
}

// Module.__getattr__: for names that are not ordinary attributes.
PyObject* module_getattr(PyObject* self, PyObject* name) {
  return get_member(self, dict_of(self).get(), name);
}

// Python's attribute lookup, including the fallback to __getattr__, but without raising an
// exception in between.
PyObject* module_getattro(PyObject* self, PyObject* name) {
  PyObject* of_class = _PyType_Lookup(Py_TYPE(self), name);
  const Ref kept(of_class ? new_ref(of_class) : nullptr);
  const descrgetfunc get = of_class ? Py_TYPE(of_class)->tp_descr_get : nullptr;
  const bool is_data = get && PyDescr_IsData(of_class);
  const Ref own = dict_of(self);
  if (own && !is_data) {
    if (PyObject* found = PyDict_GetItemWithError(own.get(), name)) return new_ref(found);
    if (PyErr_Occurred()) return nullptr;
  }
  if (!of_class) return get_member(self, own.get(), name);
  if (!get) return new_ref(of_class);
  PyObject* found = get(of_class, self, reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return module_getattr(self, name);
}

// Calls object.__setattr__, or that of a class between Module and object.
PyObject* module_set_plain(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "expected 2 arguments, got %zd", count);
    return nullptr;
  }
  PyObject* mro = Py_TYPE(self)->tp_mro;
  const Py_ssize_t before_object = PyTuple_GET_SIZE(mro) - 2;
  if (PyTuple_GET_ITEM(mro, before_object) == reinterpret_cast<PyObject*>(base_type)) {
    if (PyObject_GenericSetAttr(self, args[0], args[1]) < 0) return nullptr;
    return none();
  }
  const Ref next(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type), base_type,
                                              self, nullptr));
  if (!next) return nullptr;
  return PyObject_CallMethodObjArgs(next.get(), names->setattr, args[0], args[1], nullptr);
}

// Whether a value is neither a module nor a tensor that could be marked as a parameter or buffer.
bool is_ordinary_attribute(PyObject* value) {
  if (Py_TYPE(value) == tensor_type) return !reinterpret_cast<PyTensor*>(value)->dict;
  return !is_tensor(value) && !PyObject_TypeCheck(value, base_type);
}

// Module.__setattr__: members and their names are handled in Python.
PyObject* module_setattr(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count == 2 && is_ordinary_attribute(args[1]) && !find_member(dict_of(self).get(), args[0]) &&
      !PyErr_Occurred())
    return module_set_plain(self, args, count);
  if (PyErr_Occurred()) return nullptr;
  const Ref method(PyObject_GetAttr(self, names->set_member));
  return method ? PyObject_Vectorcall(method.get(), args, count, nullptr) : nullptr;
}

// Gives a new subclass the fast lookup of members, unless it overrides the lookup. Python itself
// would choose a slot that calls `__getattr__` as a method, and does so if one of the two methods
// is set later.
PyObject* adopt_class(PyObject*, PyObject* cls) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (!PyType_Check(cls) || !PyType_IsSubtype(type, base_type)) {
    PyErr_Format(PyExc_TypeError, "expected a class of modules, got %R", cls);
    return nullptr;
  }
  if (_PyType_Lookup(type, names->getattr) == own_getattr &&
      _PyType_Lookup(type, names->getattribute) == object_getattribute)
    type->tp_getattro = module_getattro;
  return none();
}

// --- calls

// Whether a call has to run hooks. Also true if the dictionaries are damaged: the slow path raises
// the error.
bool has_hooks(PyObject* own) {
  for (PyObject* hooks : global_hooks)
    if (PyDict_GET_SIZE(hooks) != 0) return true;
  if (!own) return true;
  for (PyObject* name : names->hooks) {
    PyObject* hooks = PyDict_GetItemWithError(own, name);
    if (!hooks || !PyDict_Check(hooks) || PyDict_GET_SIZE(hooks) != 0) return true;
  }
  return false;
}

// Calls forward. `args` has room for `self` in front.
PyObject* call_forward(PyObject* self, PyObject* own, PyObject** args, Py_ssize_t count,
                       PyObject* kwargs) {
  // Held: the class may drop it during the call, or while the object's dictionary is searched.
  const Ref forward(Py_XNewRef(_PyType_Lookup(Py_TYPE(self), names->forward)));
  const bool is_method = forward &&
                         PyType_HasFeature(Py_TYPE(forward.get()), Py_TPFLAGS_METHOD_DESCRIPTOR) &&
                         !PyDict_GetItemWithError(own, names->forward);
  if (is_method) {
    args[-1] = self;
    return PyObject_VectorcallDict(forward.get(), args - 1, count + 1, kwargs);
  }
  const Ref bound(PyObject_GetAttr(self, names->forward));
  if (!bound) return nullptr;
  return PyObject_VectorcallDict(bound.get(), args, count, kwargs);
}

PyObject* call_with_hooks(PyObject* self, PyObject* const* args, Py_ssize_t count,
                          PyObject* kwargs) {
  PyErr_Clear();
  const Ref positional(PyTuple_New(count));
  const Ref named(kwargs ? new_ref(kwargs) : PyDict_New());
  if (!positional || !named) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.get(), i, new_ref(args[i]));
  return PyObject_CallMethodObjArgs(self, names->call_with_hooks, positional.get(), named.get(),
                                    nullptr);
}

PyObject* call(PyObject* self, PyObject** args, Py_ssize_t count, PyObject* kwargs) {
  const ModuleSpan span(self);
  const Ref own = dict_of(self);
  if (has_hooks(own.get())) return call_with_hooks(self, args, count, kwargs);
  return call_forward(self, own.get(), args, count, kwargs);
}

// Module.__call__.
PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  constexpr Py_ssize_t kFew = 8;
  std::array<PyObject*, kFew + 1> few;
  std::vector<PyObject*> many;
  PyObject** slots = few.data() + 1;
  if (count > kFew) {
    many.resize(count + 1);
    slots = many.data() + 1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) slots[i] = PyTuple_GET_ITEM(args, i);
  return call(self, slots, count, kwargs);
}

// Calls a child with one argument: directly, unless its class overrides __call__.
PyObject* call_child(PyObject* child, PyObject* input) {
  if (Py_TYPE(child)->tp_call != module_call) return PyObject_CallOneArg(child, input);
  PyObject* args[] = {nullptr, input};
  return call(child, args + 1, 1, nullptr);
}

// --- Sequential

// The only argument of `forward(input)`, borrowed.
PyObject* single_argument(PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  const bool is_input =
      named == 0 || PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, 0), names->input) == 0;
  if (count + named == 1 && is_input) return args[0];
  if (count + named == 0)
    PyErr_SetString(PyExc_TypeError,
                    "Sequential.forward() missing 1 required positional argument: 'input'");
  else if (!is_input)
    PyErr_Format(PyExc_TypeError, "Sequential.forward() got an unexpected keyword argument '%U'",
                 PyTuple_GET_ITEM(kwnames, 0));
  else
    PyErr_Format(PyExc_TypeError,
                 "Sequential.forward() takes 2 positional arguments but %zd were given",
                 count + named + 1);
  return nullptr;
}

PyObject* call_in_order(PyObject* modules, PyObject* input) {
  const Py_ssize_t size = PyDict_GET_SIZE(modules);
  Ref value(new_ref(input));
  PyObject* child = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(modules, &position, nullptr, &child);) {
    const Ref kept(new_ref(child));
    value = Ref(call_child(child, value.get()));
    if (!value) return nullptr;
    if (PyDict_GET_SIZE(modules) != size) {
      PyErr_SetString(PyExc_RuntimeError, "dictionary changed size during iteration");
      return nullptr;
    }
  }
  return value.release();
}

// The same with a mapping of another class, such as an OrderedDict, whose order is its own.
PyObject* call_values_in_order(PyObject* modules, PyObject* input) {
  const Ref children(PyMapping_Values(modules));
  if (!children) return nullptr;
  Ref value(new_ref(input));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(children.get()); ++i) {
    value = Ref(call_child(PyList_GET_ITEM(children.get(), i), value.get()));
    if (!value) return nullptr;
  }
  return value.release();
}

// A call that counts towards Python's recursion limit, as functions written in Python do. Python
// 3.12 and 3.13 count native calls separately and allow more than a thread's stack may hold;
// earlier versions count all calls themselves, and later ones measure the stack.
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
class CountedCall {
 public:
  CountedCall() : is_allowed_(thread_->py_recursion_remaining-- > 0) {
    if (!is_allowed_) PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
  }
  ~CountedCall() { ++thread_->py_recursion_remaining; }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

  // Otherwise an exception is set.
  bool is_allowed() const { return is_allowed_; }

 private:
  PyThreadState* const thread_ = PyThreadState_Get();
  const bool is_allowed_;
};
#else
struct CountedCall {
  constexpr bool is_allowed() const { return true; }
};
#endif

// Sequential.forward: calls every child with the result of the one before it.
PyObject* forward_in_order(FB_PY_ARGUMENTS) {
  PyObject* input = single_argument(args, nargs, kwnames);
  if (!input) return nullptr;
  const CountedCall counted;
  if (!counted.is_allowed()) return nullptr;
  const Ref modules(PyObject_GetAttr(self, names->modules));
  if (!modules) return nullptr;
  return PyDict_CheckExact(modules.get()) ? call_in_order(modules.get(), input)
                                          : call_values_in_order(modules.get(), input);
}

// --- setup

PyObject* set_global_hooks(PyObject*, PyObject* const* dictionaries, Py_ssize_t count) {
  return guarded(nullptr, [&] {
    FB_CHECK_TYPE(count == static_cast<Py_ssize_t>(global_hooks.size()), "expected ",
                  global_hooks.size(), " dictionaries, got ", count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      FB_CHECK_TYPE(PyDict_Check(dictionaries[i]), "expected a dictionary");
      Py_XSETREF(global_hooks[i], new_ref(dictionaries[i]));
    }
    return none();
  });
}

// Returns the hook that was there before.
PyObject* set_member_hook(PyObject*, PyObject* hook) {
  PyObject* previous = std::exchange(member_hook, hook == Py_None ? nullptr : new_ref(hook));
  return previous ? previous : none();
}

PyCFunction as_fastcall(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef module_methods[] = {
    {"__getattr__", module_getattr, METH_O, nullptr},
    {"__setattr__", as_fastcall(module_setattr), METH_FASTCALL, nullptr},
    {"_fb_set_plain", as_fastcall(module_set_plain), METH_FASTCALL, nullptr},
    {"forward", as_cfunction(forward_in_order), METH_FASTCALL | METH_KEYWORDS,
     "forward($self, input)\n--\n\nCall the children in order, each with the result of the last."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef functions[] = {
    {"_adopt_module_class", adopt_class, METH_O, nullptr},
    {"_set_module_member_hook", set_member_hook, METH_O, nullptr},
    {"_set_global_module_hooks", as_fastcall(set_global_hooks), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_nn_module(PyObject* module) {
  names = new Names;
  for (PyObject*& hooks : global_hooks) hooks = checked(PyDict_New()).release();
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(module_call)},
                         {Py_tp_methods, module_methods},
                         {0, nullptr}};
  PyType_Spec spec = {"flambeau._C._ModuleBase", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  own_getattr = _PyType_Lookup(base_type, names->getattr);
  object_getattribute = _PyType_Lookup(&PyBaseObject_Type, names->getattribute);
  PyModule_AddObjectRef(module, "_ModuleBase", reinterpret_cast<PyObject*>(base_type));
  if (PyModule_AddFunctions(module, functions) < 0) throw PythonError{};
}

}  // namespace fb::bind
