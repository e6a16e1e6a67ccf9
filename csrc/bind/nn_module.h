// What flambeau.nn.Module does natively.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// Adds the base class of Module and what sets it up. Called once.
void add_nn_module(PyObject* module);

}  // namespace fb::bind
