// Range checks: numbers that an element type can hold.
#pragma once

#include "core/dtype.h"
#include "core/scalar.h"

namespace fb::ops {

// Refuses a number that type `t` cannot hold. Negative integers are allowed for unsigned types,
// where they wrap around.
void check_held(DType t, const Scalar& value);

}  // namespace fb::ops
