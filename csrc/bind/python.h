// Python's C API, and how C++ errors cross into it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <utility>

#include "core/error.h"

// What every vectorcall entry point takes.
#define FB_PY_ARGUMENTS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

namespace fb::bind {

// Thrown when a Python exception is already set.
struct PythonError {};

// An owned reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Takes a new reference, or throws if there is none because an exception is set.
inline Ref checked(PyObject* owned) {
  if (!owned) throw PythonError{};
  return Ref(owned);
}
inline PyObject* new_ref(PyObject* object) {
  Py_INCREF(object);
  return object;
}
inline PyObject* none() { return new_ref(Py_None); }

// Sets the Python exception for the C++ one in flight; `name` is the operator the user called, or
// null.
void set_python_error(const char* name);

// Runs f and returns what it returns; on a C++ exception sets the Python one and returns null.
template <class F>
PyObject* guarded(const char* name, F&& f) {
  try {
    return f();
  } catch (...) {
    set_python_error(name);
    return nullptr;
  }
}
template <class F>
int guarded_int(const char* name, F&& f) {
  try {
    return f();
  } catch (...) {
    set_python_error(name);
    return -1;
  }
}

// RuntimeError's subclass for lack of memory; also torch.OutOfMemoryError.
extern PyObject* out_of_memory_error;
// RuntimeError's subclass for singular matrices and the like; torch.linalg.LinAlgError.
extern PyObject* linalg_error;

inline PyCFunction as_cfunction(PyObject* (*function)(FB_PY_ARGUMENTS)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace fb::bind
