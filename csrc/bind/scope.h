// Blocks in which a mode has another value.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// Adds the base classes of context managers to the module.
void add_scopes(PyObject* module);

}  // namespace fb::bind
