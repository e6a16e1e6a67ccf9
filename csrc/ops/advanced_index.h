// x[indices] with tensors among the indices: NumPy's advanced indexing.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// self[indices] = values, which broadcast to the indexed shape; += with accumulate. Takes the same
// indices as index().
void put_at(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate);

// The coordinates of the nonzero elements, one row each.
Tensor nonzero(const Tensor& input);
// The same as one tensor of coordinates per dimension; a 0-d tensor counts as a vector.
std::vector<Tensor> nonzero_tuple(const Tensor& input);

// A vector of positions along `dim`, expanded to a tensor of this shape.
Tensor spread_index(const Tensor& index, int64_t dim, IntSpan shape);

}  // namespace fb::ops
