// Adds gradients to the positions that the elements came from.
#include "gen/ops/adjoint.h"

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/advanced_index.h"
#include "ops/output.h"

namespace fb::ops {

Tensor compute::_select_backward(const Tensor& input, IntSpan size, int64_t dim, int64_t index) {
  Tensor out = compute::new_zeros(input, size);
  kernel::copy(compute::select(out, dim, index), input);
  return out;
}

Tensor compute::_slice_backward(const Tensor& input, IntSpan size, int64_t dim, int64_t start,
                                int64_t end, int64_t step) {
  Tensor out = compute::new_zeros(input, size);
  kernel::copy(compute::_slice(out, dim, start, end, step), input);
  return out;
}

Tensor compute::_diagonal_backward(const Tensor& input, IntSpan size, int64_t offset, int64_t dim1,
                                   int64_t dim2) {
  Tensor out = compute::new_zeros(input, size);
  kernel::copy(compute::diagonal(out, offset, dim1, dim2), input);
  return out;
}

Tensor compute::_unfold_backward(const Tensor& input, IntSpan size, int64_t dimension,
                                 int64_t length, int64_t step) {
  Tensor out = compute::new_zeros(input, size);
  const Tensor windows = compute::unfold(out, dimension, length, step);
  if (step >= length) {
    kernel::copy(windows, input);
    return out;
  }
  // Windows overlap, but no two hold the same element at the same position.
  for (int64_t position = 0; position < length; ++position)
    compute::add_(compute::select(windows, -1, position), compute::select(input, -1, position));
  return out;
}

Tensor compute::_index_select_backward(const Tensor& input, IntSpan size, int64_t dim,
                                       const Tensor& index) {
  Tensor out = compute::new_zeros(input, size);
  compute::index_add_(out, dim, index, input);
  return out;
}

Tensor compute::_gather_backward(const Tensor& input, IntSpan size, int64_t dim,
                                 const Tensor& index) {
  Tensor out = compute::new_zeros(input, size);
  compute::scatter_add_(out, dim, index, input);
  return out;
}

Tensor compute::_index_backward(const Tensor& input, IntSpan size, TensorList indices) {
  Tensor out = compute::new_zeros(input, size);
  put_at(out, indices, input, true);
  return out;
}

}  // namespace fb::ops
