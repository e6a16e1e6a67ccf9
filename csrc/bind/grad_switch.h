// no_grad and enable_grad as context managers.
#pragma once

#include "bind/python.h"

namespace fb::bind {

void add_grad_switches(PyObject* module);

}  // namespace fb::bind
