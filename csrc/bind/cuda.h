// What flambeau.cuda asks of the device.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_cuda(nanobind::module_& m);

}  // namespace fb::bind
