// backward() and grad(), and the modes of recording.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_backward(nanobind::module_& m);

}  // namespace fb::bind
