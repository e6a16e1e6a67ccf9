// Users' hooks on saved tensors.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_saved_hooks(PyObject* module);

}  // namespace fb::bind
