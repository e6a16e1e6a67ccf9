// The gradients of concatenation, repetition and others.
#include "autograd/formulas/shape.h"

#include <limits>

#include "autograd/formula.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

Dims negated(IntSpan values) {
  Dims result = values.vec();
  for (int64_t& value : result) value = -value;
  return result;
}

}  // namespace

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<Dims>& shapes, int64_t dim) {
  const int64_t d = wrap_dim(dim, grad.dim());
  std::vector<Tensor> parts;
  parts.reserve(shapes.size());
  int64_t start = 0;
  for (const Dims& shape : shapes) {
    // An empty vector can be concatenated with anything, and takes no place in the result.
    if (ndim_of(shape) != grad.dim()) {
      parts.push_back(ops::new_zeros(grad, shape));
      continue;
    }
    parts.push_back(ops::_slice(grad, d, start, start + shape[d], 1));
    start += shape[d];
  }
  return parts;
}

Tensor repeat_backward(const Tensor& grad, IntSpan repeats, IntSpan shape) {
  const size_t lead = repeats.size() - shape.size();
  // Every dimension becomes two: the repetition, and the position in it.
  Dims split, repetitions;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] != 1 || i < lead) {
      repetitions.push_back(static_cast<int64_t>(split.size()));
      split.push_back(repeats[i]);
    }
    if (i >= lead) split.push_back(shape[i - lead]);
  }
  return repetitions.empty() ? grad : ops::sum(ops::reshape(grad, split), repetitions);
}

Tensor roll_backward(const Tensor& grad, IntSpan shifts, std::optional<IntSpan> dims) {
  return ops::roll(grad, negated(shifts), dims);
}

Tensor slice_of(const Tensor& t, int64_t dim, std::optional<int64_t> start,
                std::optional<int64_t> end, int64_t step) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return ops::_slice(t, dim, start.value_or(0), end.value_or(kEnd), step);
}

}  // namespace fb::autograd::formula
