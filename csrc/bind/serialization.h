// What checkpoints need of the machine: files into memory and memory into files, quickly.
#pragma once

#include <nanobind/nanobind.h>

namespace fb::bind {

// Adds the functions that only flambeau.serialization calls.
void add_serialization(nanobind::module_& m);

}  // namespace fb::bind
