// Items of Python lists in shared memory, where looking at them writes no reference count.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_packed_list(PyObject* module);

}  // namespace fb::bind
