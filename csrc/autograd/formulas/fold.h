// What the derivatives of fold and unfold are made of: each other.
#pragma once

#include "gen/ops/fold.h"

namespace fb::autograd::formula {

// `sizes` are those of the input of unfold.
inline Tensor folded(const Tensor& grad, IntSpan sizes, IntSpan kernel_size, IntSpan dilation,
                     IntSpan padding, IntSpan stride) {
  return ops::nn_functional_fold(grad, sizes.last(2), kernel_size, dilation, padding, stride);
}

inline Tensor unfolded(const Tensor& grad, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
                       IntSpan stride) {
  return ops::nn_functional_unfold(grad, kernel_size, dilation, padding, stride);
}

}  // namespace fb::autograd::formula
