// How C++ errors become Python exceptions.
#include "bind/python.h"

#include <cstring>
#include <new>

#include "core/no_device.h"

namespace fb::bind {

PyObject* out_of_memory_error = nullptr;
PyObject* linalg_error = nullptr;

namespace {

// "cat: ..." or "cat(): ...", where one who knows its name has refused.
bool begins_with(const char* text, const char* name) {
  const size_t length = std::strlen(name);
  return std::strncmp(text, name, length) == 0 && (text[length] == ':' || text[length] == '(');
}

}  // namespace

void set_python_error(const char* name) {
  try {
    throw;
  } catch (const PythonError&) {
  } catch (const Error& error) {
    PyObject* classes[] = {PyExc_RuntimeError, PyExc_IndexError,          PyExc_ValueError,
                           PyExc_TypeError,    PyExc_NotImplementedError, out_of_memory_error,
                           linalg_error};
    const bool has_device = dynamic_cast<const NoDevice*>(&error) == nullptr;
    PyObject* type = has_device ? classes[static_cast<int>(error.kind())] : PyExc_AssertionError;
    if (name && !begins_with(error.what(), name))
      PyErr_Format(type, "%s: %s", name, error.what());
    else
      PyErr_SetString(type, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(out_of_memory_error, "not enough memory");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace fb::bind
