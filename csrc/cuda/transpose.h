// Copies between arrays whose elements are neighbours along different dimensions.
#pragma once

#include "kernel/copy.h"

namespace fb::cuda {

// Copies by tiles and returns true where that is quicker than element by element. The arrays have
// one type; `order` lists the dimensions from the slowest of the target to its fastest.
bool transpose(int device, IntSpan shape, const kernel::StridedTarget& out,
               const kernel::StridedSource& in, IntSpan order);

}  // namespace fb::cuda
