// _Scope, the base class of context managers that switch a mode and switch it back.
//
// Note [Interrupts]: Python raises KeyboardInterrupt between two of its own instructions, also
// before the first one of `__exit__`. So switches that are written in Python can be left half done,
// and a program that catches the interrupt would continue without gradients. Native code is not
// interrupted, and a `with` statement has no room for an interrupt around it either.
//
// A subclass has the native functions `_begin(value)`, which switches and returns what `_end` needs
// to switch back, and the attribute `_value`. Only the latter may be computed by Python code.
#include "bind/scope.h"

namespace fb::bind {
namespace {

struct PyScope {
  PyObject_HEAD PyObject* before;  // a list: an object may be entered again before it is left
};

PyScope* as_scope(PyObject* self) { return reinterpret_cast<PyScope*>(self); }

struct Names {
  PyObject* begin = PyUnicode_InternFromString("_begin");
  PyObject* end = PyUnicode_InternFromString("_end");
  PyObject* value = PyUnicode_InternFromString("_value");
};
const Names* names = nullptr;

// What `with ... as` gives.
enum class Given { kNone, kSelf, kBegun };

template <Given kGiven>
PyObject* enter(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    const Ref begin = checked(PyObject_GetAttr(self, names->begin));
    const Ref value = checked(PyObject_GetAttr(self, names->value));
    PyObject* list = as_scope(self)->before;
    // The entry first: once the mode is switched, nothing may fail.
    if (PyList_Append(list, Py_None) < 0) throw PythonError{};
    const Py_ssize_t index = PyList_GET_SIZE(list) - 1;
    Ref begun(PyObject_CallOneArg(begin.get(), value.get()));
    if (!begun) {
      PyList_SetSlice(list, index, index + 1, nullptr);
      throw PythonError{};
    }
    PyObject* given = kGiven == Given::kNone   ? Py_None
                      : kGiven == Given::kSelf ? self
                                               : begun.get();
    Ref result(new_ref(given));
    PyList_SetItem(list, index, begun.release());
    return result.release();
  });
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded(nullptr, [&] {
    PyObject* list = as_scope(self)->before;
    const Py_ssize_t index = PyList_GET_SIZE(list) - 1;
    FB_CHECK(index >= 0, Py_TYPE(self)->tp_name, " was left without being entered");
    const Ref end = checked(PyObject_GetAttr(self, names->end));
    const Ref begun(new_ref(PyList_GET_ITEM(list, index)));
    if (PyList_SetSlice(list, index, index + 1, nullptr) < 0) throw PythonError{};
    checked(PyObject_CallOneArg(end.get(), begun.get()));
    return none();
  });
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded(nullptr, [&] {
    Ref object = checked(type->tp_alloc(type, 0));
    as_scope(object.get())->before = checked(PyList_New(0)).release();
    return object.release();
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_scope(self)->before);
  return 0;
}

int clear(PyObject* self) {
  if (PyObject* list = as_scope(self)->before) PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr);
  return 0;
}

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(as_scope(self)->before);
  type->tp_free(self);
  Py_DECREF(type);
}

template <Given kGiven>
void add_type(PyObject* module, const char* full_name, const char* name, PyObject* base) {
  static PyMethodDef methods[] = {
      {"__enter__", enter<kGiven>, METH_NOARGS, nullptr},
      {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)),
       METH_FASTCALL, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {full_name, sizeof(PyScope), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  const Ref bases = base ? checked(PyTuple_Pack(1, base)) : Ref();
  const Ref type = checked(PyType_FromSpecWithBases(&spec, bases.get()));
  if (PyModule_AddObjectRef(module, name, type.get()) < 0) throw PythonError{};
}

}  // namespace

void add_scopes(PyObject* module) {
  names = new Names;
  add_type<Given::kNone>(module, "flambeau._C._Scope", "_Scope", nullptr);
  const Ref base = checked(PyObject_GetAttrString(module, "_Scope"));
  add_type<Given::kSelf>(module, "flambeau._C._SelfScope", "_SelfScope", base.get());
  add_type<Given::kBegun>(module, "flambeau._C._LevelScope", "_LevelScope", base.get());
}

}  // namespace fb::bind
