// What flambeau.optim does natively.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// Adds the submodule _optim: the step of each optimiser, and clearing of gradients. Called once.
void add_optim(PyObject* module);

}  // namespace fb::bind
