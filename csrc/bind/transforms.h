// Tangents, batches and variables, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_transforms(nanobind::module_& m);

}  // namespace fb::bind
