// Reductions that other families build on.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// The norm of order `ord` of the elements over `dim` (all where it is absent or empty), in `dtype`
// if given.
Tensor vector_norm(const Tensor& input, double ord, std::optional<IntSpan> dim, bool keepdim,
                   std::optional<DType> dtype);

}  // namespace fb::ops
