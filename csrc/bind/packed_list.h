// Items of Python lists in shared memory, where reading them changes no reference count.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_packed_list(PyObject* module);

}  // namespace fb::bind
