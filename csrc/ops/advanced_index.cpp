// Advanced indexing: masks become positions, positions broadcast, picked dimensions are moved
// together.
#include "ops/advanced_index.h"

#include "gen/ops/index.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::kBool || t.dtype() == DType::kUInt8; }

void check_mask(const Tensor& self, size_t dim, const Tensor& mask) {
  FB_CHECK_INDEX(dim + mask.sizes().size() <= self.sizes().size(),
                 "too many indices for a tensor of shape ", self.sizes());
  for (size_t i = 0; i < mask.sizes().size(); ++i)
    FB_CHECK_INDEX(mask.sizes()[i] == self.sizes()[dim + i], "the shape of the mask ", mask.sizes(),
                   " at dimension ", dim + i, " does not match the shape of the indexed tensor ",
                   self.sizes());
}

// The positions along each dimension of `self`; undefined for a dimension that stays whole.
std::vector<Tensor> positions_per_dim(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      result.emplace_back();
    } else if (is_mask(index)) {
      check_mask(self, result.size(), index);
      const Tensor columns =
          kernel::of(index).nonzero_columns(contiguous(cast(index, DType::kBool)));
      for (int64_t d = 0; d < index.dim(); ++d) result.push_back(ops::select(columns, 0, d));
    } else {
      FB_CHECK_INDEX(index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32,
                     "tensors used as indices must be int64, int32, uint8 or bool tensors, got ",
                     index.dtype());
      result.push_back(cast(index, DType::kInt64));
    }
  }
  FB_CHECK_INDEX(result.size() <= self.sizes().size(), "too many indices for a tensor of shape ",
                 self.sizes());
  return result;
}

Dims common_shape(const std::vector<Tensor>& positions) {
  Dims shape;
  try {
    for (const Tensor& t : positions)
      if (t.defined()) shape = broadcast_shapes(shape, t.sizes());
  } catch (const Error& error) {
    fail(ErrorKind::kIndex, "the indices do not broadcast together: ", error.what());
  }
  return shape;
}

kernel::Picks plan(const Tensor& self, TensorList indices) {
  const std::vector<Tensor> positions = positions_per_dim(self, indices);
  kernel::Picks picks;
  picks.shape = common_shape(positions);
  Dims picked, whole;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool is_picked =
        static_cast<size_t>(d) < positions.size() && positions[static_cast<size_t>(d)].defined();
    (is_picked ? picked : whole).push_back(d);
  }
  FB_CHECK_INDEX(!picked.empty(), "expected positions or a mask for some dimension");
  for (const int64_t d : picked) {
    const Tensor position =
        contiguous(ops::expand(positions[static_cast<size_t>(d)], picks.shape, false));
    // The write must not change an index that shares the tensor's memory.
    picks.positions.push_back(position.storage() == self.storage() ? copy_of(position) : position);
  }
  if (picked.back() - picked[0] + 1 == static_cast<int64_t>(picked.size())) {
    picks.before = picked[0];
    picks.target = self;
  } else {
    Dims order = picked;
    for (const int64_t d : whole) order.push_back(d);
    picks.target = ops::permute(self, order);
  }
  return picks;
}

// Whether stepping through the dimensions first..first+count-1 in order takes even steps in memory.
bool evenly_spaced(const Tensor& t, size_t first, size_t count) {
  int64_t expected = -1;
  for (size_t i = count; i-- > 0;) {
    const int64_t size = t.sizes()[first + i];
    if (size == 1) continue;
    if (expected >= 0 && t.strides()[first + i] != expected) return false;
    expected = t.strides()[first + i] * size;
  }
  return true;
}

// The mask, if a single mask is the whole index.
const Tensor* only_mask(TensorList indices) {
  return indices.size() == 1 && indices[0].defined() && is_mask(indices[0]) ? &indices[0] : nullptr;
}

}  // namespace

// One index per dimension of `self`: undefined where the dimension stays whole, positions, or a
// mask, which covers as many dimensions as it has. The other dimensions stay whole. Dimensions of
// the indices replace the picked ones if those are adjacent, and come first otherwise.
Tensor compute::index(const Tensor& self, TensorList indices) {
  const Tensor* mask = only_mask(indices);
  if (mask && mask->dim() == self.dim()) {
    check_mask(self, 0, *mask);
    return kernel::of(self).compress(contiguous(self), contiguous(cast(*mask, DType::kBool)));
  }
  const kernel::Picks picks = plan(self, indices);
  Tensor out = make_tensor(picks.result_shape(), self.dtype(), self.device());
  kernel::of(out).pick(out, picks);
  return out;
}

void put_at(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  check_writable(self);
  const Tensor* mask = only_mask(indices);
  if (mask && values.dim() == 0 && !accumulate) {
    check_mask(self, 0, *mask);
    Tensor spread = *mask;
    for (int64_t d = mask->dim(); d < self.dim(); ++d) spread = ops::unsqueeze(spread, -1);
    return compute::masked_fill_(self, cast(spread, DType::kBool), values);
  }
  FB_CHECK(values.dtype() == self.dtype(), "the types of source and destination must match, got ",
           values.dtype(), " to store in ", self.dtype());
  const kernel::Picks picks = plan(self, indices);
  const Dims shape = picks.result_shape();
  // Values may have leading dimensions of size 1 that the result does not have.
  Tensor source = values;
  while (source.dim() > static_cast<int64_t>(shape.size()) && source.sizes()[0] == 1)
    source = ops::select(source, 0, 0);
  try {
    source = ops::expand(source, shape, false);
  } catch (const Error&) {
    fail(ErrorKind::kRuntime, "values of shape ", values.sizes(),
         " do not broadcast to the indexed shape ", shape);
  }
  if (!evenly_spaced(source, static_cast<size_t>(picks.before), picks.shape.size()))
    source = contiguous(source);
  if (source.storage() == self.storage()) source = copy_of(source);
  kernel::of(picks.target).index_put(picks, source, accumulate);
}

Tensor spread_index(const Tensor& index, int64_t dim, IntSpan shape) {
  Dims column(shape.size(), 1);
  if (!shape.empty()) column[wrap_dim(dim, static_cast<int64_t>(shape.size()))] = index.numel();
  return ops::expand(ops::reshape(index, column), shape, false);
}

}  // namespace fb::ops
