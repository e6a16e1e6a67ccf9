// Derivatives of distances: those of norms.
#pragma once

#include <array>

#include "autograd/formulas/reduce.h"

namespace fb::autograd::formula {

// With respect to either of the vectors, as far as it is needed.
std::array<Tensor, 2> euclidean_pairs_backward(const Tensor& grad, const Tensor& x1,
                                               const Tensor& x2, double eps, const Tensor& result,
                                               const std::array<bool, 2>& needed);

}  // namespace fb::autograd::formula
