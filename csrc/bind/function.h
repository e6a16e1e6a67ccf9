// Function.apply.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_function(PyObject* module);

}  // namespace fb::bind
