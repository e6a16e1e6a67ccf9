// Settings of the process that programs read and change: threads, memory, the default type.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_settings(PyObject* module);

}  // namespace fb::bind
