// Whether a processor can run the kernels at all: one that lacks what the lowest level needs would
// stop the program at an instruction that it does not know.
#pragma once

#include "cpu/isa.h"

namespace fb::cpu {

bool has_baseline(const Processor& processor);

// Whether this one can.
bool has_baseline();

}  // namespace fb::cpu
