// Looking up values in sorted and unsorted ones.
#include "gen/ops/search.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/index.h"
#include "gen/ops/sort.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/host.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

Tensor as_tensor(const Operand& operand, DType dtype, Device device) {
  if (operand.is_tensor()) return cast(operand.tensor(), dtype);
  Tensor t = make_tensor({}, dtype, device);
  kernel::of(t).fill(t, operand.scalar());
  return t;
}

void refuse_unordered(DType dtype) {
  if (dtype == DType::kBool || is_complex(dtype))
    fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
}

void check_sorter(const Tensor& sorter, const Tensor& sequence) {
  FB_CHECK(sorter.sizes() == sequence.sizes(), "expected sorter of the sequence's shape ",
           sequence.sizes(), ", got ", sorter.sizes());
  FB_CHECK(sorter.dtype() == DType::kInt64, "expected sorter of dtype int64, got ", sorter.dtype());
  const int64_t length = sequence.dim() == 0 ? 1 : sequence.size(-1);
  const std::optional<int64_t> outside = first_outside(sorter, 0, length - 1);
  FB_CHECK(!outside, "sorter index ", *outside, " is out of range for ", length, " elements");
}

}  // namespace

Tensor compute::searchsorted(const Tensor& sorted_sequence, const Operand& input, bool out_int32,
                             bool right, std::optional<std::string> side, const Tensor& sorter) {
  FB_CHECK(!side || *side == "left" || *side == "right",
           "expected side to be 'left' or 'right', got '", side.value_or(""), "'");
  FB_CHECK(!side || *side == "right" || !right,
           "side and right are opposites: side is 'left', right is True");
  FB_CHECK(sorted_sequence.dim() > 0, "expected a sequence with at least one dimension");
  const Operand operands[] = {sorted_sequence, input};
  const DType dtype = ops::result_type(operands);
  refuse_unordered(dtype);
  const Tensor sequence = contiguous(cast(sorted_sequence, dtype));
  const Tensor values = contiguous(as_tensor(input, dtype, sequence.device()));
  const Tensor order = sorter.defined() ? contiguous(sorter) : sorter;
  if (order.defined()) check_sorter(order, sequence);

  const bool shared = sequence.dim() == 1;
  if (!shared) {
    const size_t leading = static_cast<size_t>(sequence.dim()) - 1;
    FB_CHECK(
        values.dim() == sequence.dim() &&
            values.sizes().first(leading) == sequence.sizes().first(leading),
        "expected the sequence to be 1-D or to have the same dimensions as the values but the last,"
        " got shapes ",
        sequence.sizes(), " and ", values.sizes());
  }
  const int64_t per_row = shared ? values.numel() : values.size(-1);
  Tensor out = make_tensor(values.sizes(), DType::kInt64, values.device());
  if (values.numel() > 0)
    kernel::of(values).search_sorted(
        {.dtype = dtype,
         .sequences = sequence.data(),
         .sorter = order.defined() ? order.data_as<int64_t>() : nullptr,
         .values = values.data(),
         .rows = values.numel() / per_row,
         .per_row = per_row,
         .length = sequence.size(-1),
         .shared = shared,
         .right = right || side == "right"},
        out.data_as<int64_t>());
  return out_int32 ? cast(out, DType::kInt32) : out;
}

Tensor compute::bucketize(const Operand& input, const Tensor& boundaries, bool out_int32,
                          bool right) {
  FB_CHECK(boundaries.dim() == 1, "expected boundaries to have 1 dimension, got shape ",
           boundaries.sizes());
  return compute::searchsorted(boundaries, input, out_int32, right, {}, {});
}

Tensor compute::isin(const Operand& elements, const Operand& test_elements, bool, bool invert) {
  FB_CHECK(elements.is_tensor() || test_elements.is_tensor(),
           "expected elements or test_elements to be a tensor");
  const Operand operands[] = {elements, test_elements};
  const DType dtype = ops::result_type(operands);
  FB_CHECK(dtype != DType::kBool && !is_complex(dtype), "does not support dtype ", dtype);
  const Device device = (elements.is_tensor() ? elements : test_elements).tensor().device();
  const Tensor x = as_tensor(elements, dtype, device);
  const Tensor wanted = ops::reshape(as_tensor(test_elements, dtype, device), {-1});
  Tensor found;
  if (wanted.numel() == 0) {
    found = make_tensor(x.sizes(), DType::kBool, x.device());
    kernel::of(found).fill(found, false);
  } else {
    // If the candidate found in the sorted list is not the element, none is.
    const Tensor sorted = std::get<0>(compute::sort(wanted, 0, false));
    const Tensor at = compute::clamp_max(compute::searchsorted(sorted, x, false, false, {}, {}),
                                         wanted.numel() - 1);
    found = compute::eq(compute::take(sorted, at), x);
  }
  return invert ? compute::logical_not(found) : found;
}

}  // namespace fb::ops
