// How this build was made and what it found, for `flambeau.__config__` and `flambeau doctor`.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

void add_config(nanobind::module_& m);

}  // namespace fb::bind
