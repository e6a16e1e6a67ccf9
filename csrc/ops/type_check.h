// Types of elements that an operator's table entry does not list are refused here, and nowhere
// else.
#pragma once

#include "core/dtype.h"

namespace fb::ops {

// Bit t: type t is listed.
using TypeMask = uint16_t;

// `convertible`: the operator has an argument dtype, which was not given.
[[noreturn, gnu::cold]] void refuse_type(TypeMask listed, DType t, bool convertible);

// The generated operators call it before anything is computed.
inline void check_type(TypeMask listed, DType t, bool convertible = false) {
  if (!(listed >> static_cast<int>(t) & 1)) [[unlikely]]
    refuse_type(listed, t, convertible);
}

}  // namespace fb::ops
