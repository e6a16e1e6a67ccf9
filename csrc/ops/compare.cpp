// Comparisons of whole tensors, and what `where` and `isclose` check.
#include "gen/ops/compare.h"

#include "autograd/batch.h"
#include "kernel/table.h"
#include "ops/advanced_index.h"
#include "ops/held.h"
#include "ops/output.h"

namespace fb::ops {

void check_condition(std::span<const Operand> inputs, std::span<const Scalar>, DType common) {
  const DType given = inputs[0].tensor().dtype();
  FB_CHECK(given == DType::kBool || given == DType::kUInt8, "condition must be a bool tensor, got ",
           given);
  for (const Operand& operand : inputs)
    if (!operand.is_tensor() && is_integral(common)) check_held(common, operand.scalar());
}

std::vector<Tensor> compute::where_true(const Tensor& condition) {
  return nonzero_tuple(condition);
}

Tensor where_method(const Tensor& input, const Tensor& condition, const Operand& other) {
  return ops::where(condition, input, other);
}

Tensor compute::isclose(const Tensor& input, const Tensor& other, double rtol, double atol,
                        bool equal_nan) {
  FB_CHECK(input.dtype() == other.dtype(), "both tensors must have the same dtype, got ",
           input.dtype(), " and ", other.dtype());
  FB_CHECK(rtol >= 0 && atol >= 0, "rtol and atol must not be negative, got ", rtol, " and ", atol);
  if (is_integral(input.dtype()))
    return compute::is_close(cast(input, DType::kFloat64), cast(other, DType::kFloat64), rtol, atol,
                             equal_nan);
  return compute::is_close(input, other, rtol, atol, equal_nan);
}

namespace {

bool all_true(const Tensor& mask) {
  autograd::check_no_branch(mask);
  const Tensor dense = contiguous(mask);
  return !kernel::of(dense).has_zero(DType::kBool, dense.data(), dense.numel());
}

}  // namespace

bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return all_true(ops::isclose(input, other, rtol, atol, equal_nan));
}

bool equal(const Tensor& input, const Tensor& other) {
  return input.sizes() == other.sizes() && all_true(ops::eq(input, other));
}

}  // namespace fb::ops
