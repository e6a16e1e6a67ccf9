// The innermost code of the user's that is running. See Note [Cheap places] in autograd/place.h.
#define Py_BUILD_CORE 1
#include <Python.h>
#undef HAVE_STD_ATOMIC
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include <string>

#include "autograd/place.h"
#include "bind/place.h"
#include "bind/python.h"

namespace fb::bind {
namespace {

// Files of the package are not the user's. File names are shared by all code of a file, so their
// addresses tell them apart; the answers are kept with the names.
std::string package_folder;

struct KnownFile {
  PyObject* name = nullptr;
  bool is_ours = false;
};
constexpr size_t kKnownFiles = 256;
KnownFile known_files[kKnownFiles];

bool is_ours(PyObject* filename) {
  KnownFile& known = known_files[reinterpret_cast<uintptr_t>(filename) / 16 % kKnownFiles];
  if (known.name != filename) {
    const char* text = PyUnicode_AsUTF8(filename);
    Py_XDECREF(known.name);
    known.name = new_ref(filename);
    known.is_ours = text && std::string_view(text).starts_with(package_folder);
    PyErr_Clear();
  }
  return known.is_ours;
}

_PyInterpreterFrame* innermost(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame;
#else
  return thread->cframe ? thread->cframe->current_frame : nullptr;
#endif
}

PyCodeObject* code_of(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
  return frame->f_code;
#endif
}

void* capture(int32_t* position) {
  PyThreadState* thread = _PyThreadState_UncheckedGet();
  if (!thread) return nullptr;
  _PyInterpreterFrame* first = nullptr;
  for (_PyInterpreterFrame* frame = innermost(thread); frame; frame = frame->previous) {
    PyCodeObject* code = code_of(frame);
    if (!code || !PyCode_Check(code)) continue;
    if (!first) first = frame;
    if (is_ours(code->co_filename)) continue;
    *position = static_cast<int32_t>(_PyInterpreterFrame_LASTI(frame) * sizeof(_Py_CODEUNIT));
    return new_ref(reinterpret_cast<PyObject*>(code));
  }
  if (!first) return nullptr;
  *position = static_cast<int32_t>(_PyInterpreterFrame_LASTI(first) * sizeof(_Py_CODEUNIT));
  return new_ref(reinterpret_cast<PyObject*>(code_of(first)));
}

void release(void* code) {
  // Tensors may outlive the interpreter.
  if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(code));
}

std::string describe(void* code, int32_t position) {
  auto* object = static_cast<PyCodeObject*>(code);
  const char* file = PyUnicode_AsUTF8(object->co_filename);
  return std::string(file ? file : "?") + ":" + std::to_string(PyCode_Addr2Line(object, position));
}

}  // namespace

void install_places(const char* folder) {
  package_folder = folder;
  autograd::place_hooks = {capture, release, describe};
}

}  // namespace fb::bind
