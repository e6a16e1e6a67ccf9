// Which element type a result has: PyTorch's rules for tensors, zero-dimensional tensors and Python
// numbers.
#pragma once

#include <span>

#include "ops/types.h"

namespace fb::ops {

// A tensor with dimensions outweighs a zero-dimensional one, which outweighs a number, unless the
// lighter one is of a higher category (bool < integer < float < complex).
DType result_type(std::span<const Operand> operands);

// The type a Python number takes when it meets no tensor: float is the default dtype, complex its
// complex.
DType scalar_type(const Scalar& scalar);

// Integers and bool become the default floating type.
inline DType to_floating(DType t) { return is_integral(t) ? default_dtype() : t; }

}  // namespace fb::ops
