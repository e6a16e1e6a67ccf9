// What the gradients of reductions, as the table writes them, call.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// A reduced tensor expanded to the shape of the input: every result at the elements it came from.
Tensor spread_over(const Tensor& reduced, IntSpan shape, std::optional<IntSpan> dim, bool keepdim);

Tensor mean_backward(const Tensor& grad, IntSpan shape, std::optional<IntSpan> dim, bool keepdim);

// Exact where elements are zero.
Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result);
Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result, int64_t dim,
                     bool keepdim);

// Elements that share an extremum share its gradient evenly.
Tensor extremum_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                         std::optional<IntSpan> dim, bool keepdim);
Tensor extremum_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                         std::optional<int64_t> dim, bool keepdim);
// All elements that equal the one result, NaN included, share its gradient.
Tensor equals_backward(const Tensor& grad, const Tensor& input, const Tensor& result);
// The gradient of an element chosen from each row goes to where it was.
Tensor chosen_backward(const Tensor& grad, const Tensor& indices, IntSpan shape, int64_t dim,
                       bool keepdim);

Tensor var_backward(const Tensor& grad, const Tensor& input, std::optional<IntSpan> dim,
                    const std::optional<Scalar>& correction, bool keepdim);
Tensor std_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                    std::optional<IntSpan> dim, const std::optional<Scalar>& correction,
                    bool keepdim);

// 0 where the norm is 0, whatever its order.
Tensor norm_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                     const std::optional<Scalar>& p, std::optional<IntSpan> dim, bool keepdim);

}  // namespace fb::autograd::formula
