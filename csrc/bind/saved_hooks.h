// Users' functions on what nodes save.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_saved_hooks(PyObject* module);

}  // namespace fb::bind
