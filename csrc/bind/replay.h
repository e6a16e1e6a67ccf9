// Programs that run again, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_replay(nanobind::module_& m);

}  // namespace fb::bind
