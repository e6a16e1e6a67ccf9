// Loading of NumPy's C interface.
#include "bind/numpy_api.h"

namespace fb::bind {

namespace {

// Positions in NumPy's table of functions; they are the same in all versions from 1.7 on.
constexpr int kArrayType = 2;
constexpr int kNew = 93;
constexpr int kSetBaseObject = 282;

NumpyApi api;
bool is_loaded = false;

Ref import_core() {
  PyObject* core = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!core && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
    PyErr_Clear();
    core = PyImport_ImportModule("numpy.core._multiarray_umath");  // before NumPy 2
  }
  return checked(core);
}

}  // namespace

const NumpyApi& numpy_api() {
  if (is_loaded) return api;
  const Ref core = import_core();
  const Ref capsule = checked(PyObject_GetAttrString(core.get(), "_ARRAY_API"));
  void** table = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (!table) throw PythonError{};
  api.array_type = static_cast<PyTypeObject*>(table[kArrayType]);
  api.new_array = reinterpret_cast<decltype(api.new_array)>(table[kNew]);
  api.set_base_object = reinterpret_cast<decltype(api.set_base_object)>(table[kSetBaseObject]);
  is_loaded = true;
  return api;
}

const NumpyApi* loaded_numpy_api() {
  if (is_loaded) return &api;
  // An array can only exist if somebody has imported NumPy.
  PyObject* modules = PyImport_GetModuleDict();
  return PyDict_GetItemString(modules, "numpy") ? &numpy_api() : nullptr;
}

}  // namespace fb::bind
