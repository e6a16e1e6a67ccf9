// Tapes for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_tape(nanobind::module_& m);

}  // namespace fb::bind
