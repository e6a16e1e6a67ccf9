#include "autograd/formulas/linear.h"

#include "autograd/deferred.h"
#include "autograd/formula.h"
#include "autograd/record.h"
#include "core/device_memory.h"
#include "gen/ops/linear.h"

namespace fb::autograd::formula {
namespace {

bool has_deferrable_rows(const Tensor& t) {
  const bool has_type = t.dtype() == DType::kFloat32 || t.dtype() == DType::kFloat64;
  return has_type && t.dim() > 0 && t.is_contiguous() && !(flags_of(t) & (kBatched | kDual));
}

// Whether the rows were handed over to the run.
bool defers(const Tensor& grad, const Tensor& input, int64_t number) {
  if (!has_deferrable_rows(grad) || !has_deferrable_rows(input) || input.numel() == 0) return false;
  const auto rows =
      defer_input_gradient(static_cast<size_t>(number), input.numel() / input.size(-1));
  if (!rows.left) return false;
  const size_t bytes = size_of(grad.dtype());
  copy_bytes(grad.device(), rows.left, grad.data(), static_cast<size_t>(grad.numel()) * bytes);
  copy_bytes(grad.device(), rows.right, input.data(), static_cast<size_t>(input.numel()) * bytes);
  return true;
}

}  // namespace

Tensor linear_weight_backward(const Tensor& grad, const Tensor& input, int64_t number) {
  return defers(grad, input, number) ? Tensor() : ops::_linear_outer(grad, conj(input));
}

}  // namespace fb::autograd::formula
