// backward(), the modes of recording, and their kin.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_backward(nanobind::module_& m);

}  // namespace fb::bind
