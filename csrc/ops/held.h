// Numbers that elements can be.
#pragma once

#include "core/dtype.h"
#include "core/scalar.h"

namespace fb::ops {

// Refuses a number that elements of type `t` cannot be. Those of unsigned types count backwards
// from their end for whole numbers below 0.
void check_held(DType t, const Scalar& value);

}  // namespace fb::ops
