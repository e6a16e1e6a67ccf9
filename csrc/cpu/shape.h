// Joined, reversed and triangular arrangements of elements.
#pragma once

#include "core/tensor.h"

namespace fb::cpu {

// Tensors of the type of `out`, which is contiguous, one after another along `dim`.
void concatenate(const Tensor& out, TensorList tensors, int64_t dim);
// out = in with the given dimensions in reverse order; the shapes are equal.
void flip(const Tensor& out, const Tensor& in, IntSpan dims);
// Sets the elements above (lower) or below the given diagonal of matrices to zero. `t` is
// contiguous.
void clear_triangle(const Tensor& t, int64_t diagonal, bool lower);

}  // namespace fb::cpu
