// The gradients of normalisations. They come from one kernel, or from a composition of operators
// where the gradient itself is going to be differentiated.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// `groups` is 0 where statistics are those of channels; `given` ones did not come from the input.
std::array<Tensor, 3> image_norm_backward(const Tensor& grad, const Tensor& input,
                                          const Tensor& weight, const Tensor& mean,
                                          const Tensor& rstd, int64_t groups, bool given,
                                          double eps, std::array<bool, 3> needed);

// Likewise, with the gradients of the statistics, of which either may be undefined.
std::array<Tensor, 3> group_norm_backward(const Tensor& grad, const Tensor& mean_grad,
                                          const Tensor& rstd_grad, const Tensor& input,
                                          const Tensor& weight, const Tensor& mean,
                                          const Tensor& rstd, int64_t groups, double eps,
                                          std::array<bool, 3> needed);

std::array<Tensor, 3> layer_norm_backward(const Tensor& grad, const Tensor& input,
                                          IntSpan normalized_shape, const Tensor& weight,
                                          const Tensor& mean, const Tensor& rstd, double eps,
                                          std::array<bool, 3> needed);

std::array<Tensor, 2> rms_norm_backward(const Tensor& grad, const Tensor& input,
                                        IntSpan normalized_shape, const Tensor& weight,
                                        const Tensor& rstd, double eps, std::array<bool, 2> needed);

}  // namespace fb::autograd::formula
