// Where results go that the caller has a place for.
#pragma once

#include "ops/operator.h"

namespace fb::tape {

// out=: stores the result. Refuses to lose a gradient.
void store_result(const char* name, const Tensor& out, const Tensor& value, ops::OutRule rule);

// The form of an operator that stores into `out`.
const ops::Operator& storing(const ops::Operator& op);

}  // namespace fb::tape
