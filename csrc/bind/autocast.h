// Autocast as Python sees it: its switches, and operators whose body is Python.
#pragma once

#include <nanobind/nanobind.h>

#include "autograd/autocast.h"
#include "bind/call.h"

namespace fb::bind {

// Calls an operator with a Python body while autocast is on: casts its tensors to `target`.
PyObject* call_python_cast(const autocast::Cast& cast, PythonBody& body, FB_PY_ARGUMENTS);

// Adds the submodule _autocast. Called once.
void add_autocast(nanobind::module_& m);

}  // namespace fb::bind
