// x[indices] with tensors among the indices: NumPy's advanced indexing.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// self[indices] = values, which broadcast; or += with accumulate. The indices are as those of
// index().
void put_at(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate);

// The coordinates of the elements that are not zero, one a row.
Tensor nonzero(const Tensor& input);
// The same as one tensor of coordinates per dimension; a 0-d tensor counts as one of one element.
std::vector<Tensor> nonzero_tuple(const Tensor& input);

// A vector of positions along `dim`, spread out to say the same for a tensor of this shape.
Tensor spread_index(const Tensor& index, int64_t dim, IntSpan shape);

}  // namespace fb::ops
