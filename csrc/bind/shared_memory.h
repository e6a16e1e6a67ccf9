// Shared memory, arenas and worker processes as Python sees them.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_shared_memory(PyObject* module);

}  // namespace fb::bind
