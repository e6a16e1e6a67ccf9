// x[indices] with tensors among the indices: NumPy's advanced indexing.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// One entry per dimension of `self`: undefined where the dimension stays whole, positions, or a
// mask, which stands for as many dimensions as it has itself. The rest of the dimensions stay
// whole. Picked dimensions that are neighbours are replaced by those of the indices; otherwise
// these come first.
Tensor index(const Tensor& self, TensorList indices);
// self[indices] = values, which broadcast; or += with accumulate.
void put_at(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate);

// The coordinates of the elements that are not zero, one a row.
Tensor nonzero(const Tensor& input);
// The same as one tensor of coordinates per dimension; a 0-d tensor counts as one of one element.
std::vector<Tensor> nonzero_tuple(const Tensor& input);

}  // namespace fb::ops
