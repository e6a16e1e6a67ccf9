// What the gradients of concatenation, repetition and others call.
#pragma once

#include <vector>

#include "ops/types.h"

namespace fb::autograd::formula {

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<Dims>& shapes, int64_t dim);
// All repetitions summed up.
Tensor repeat_backward(const Tensor& grad, IntSpan repeats, IntSpan shape);
Tensor roll_backward(const Tensor& grad, IntSpan shifts, std::optional<IntSpan> dims);
// The slice that slice_scatter replaces.
Tensor slice_of(const Tensor& t, int64_t dim, std::optional<int64_t> start,
                std::optional<int64_t> end, int64_t step);

}  // namespace fb::autograd::formula
