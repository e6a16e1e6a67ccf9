// Helpers shared by operators on sparse tensors. See Note [Sparse tensors] in autograd/sparse.h.
#pragma once

#include "autograd/sparse.h"
#include "ops/output.h"

namespace fb::ops {

// How many positions there are along the sparse dimensions.
int64_t position_count(const Tensor& t);
// The position of each block, counted along the sparse dimensions in their order.
Tensor flat_positions(const Tensor& t);
// Sorted, with one block per position; the tensor itself if it already is.
Tensor coalesced(const Tensor& t);
// A dense tensor as a table with a row for each position of `like`: a view of its elements if that
// is possible.
Tensor as_rows(const Tensor& dense, const Tensor& like);
// dense += alpha * sparse, for equal sizes and types.
void add_sparse(const Tensor& dense, const Tensor& sparse, const Scalar& alpha);

// The first elements of a vector.
Tensor first_of(const Tensor& numbers, int64_t count);
// Where a mask of one dimension is true.
Tensor true_positions(const Tensor& mask);

// Other values at the same positions.
Tensor with_values(const Tensor& like, Tensor values);
// `t` takes the contents of `value`, whose type must be convertible to its own.
void become_sparse(const Tensor& t, const Tensor& value);

// Applies an element function that is 0 at 0.
template <class F>
Tensor on_values(const Tensor& t, F&& f) {
  const Tensor sorted = coalesced(t);
  return with_values(sorted, f(sparse_parts(sorted).values));
}
template <class F>
void change_values(const Tensor& t, F&& f) {
  if (!sparse_parts(t).is_coalesced) become_sparse(t, coalesced(t));
  f(sparse_parts(t).values);
}

}  // namespace fb::ops
