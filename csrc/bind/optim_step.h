// The method `step` of optimisers.
#pragma once

#include "bind/python.h"

namespace fb::bind::optim {

// Adds the class Step to the module: a method that calls hooks if there are any.
void add_step_type(PyObject* module);

}  // namespace fb::bind::optim
