// Activation functions whose arguments need more than an element function.
#include "gen/ops/activation.h"

#include "gen/ops/view.h"

namespace fb::ops {

void check_lambd(std::span<const Operand>, std::span<const Scalar> params, DType) {
  FB_CHECK(params[0].to<double>() >= 0.0, "lambd must not be negative, got ", params[0]);
}

void check_limits(std::span<const Operand>, std::span<const Scalar> params, DType common) {
  FB_CHECK(common != DType::kUInt8 || params[0].to<double>() >= 0.0,
           "uint8 elements cannot be clamped to a negative limit, got ", params[0]);
}

Tensor prelu(const Tensor& input, const Tensor& weight) {
  FB_CHECK(weight.dim() <= 1, "weight must have at most one dimension, got the shape ",
           weight.sizes());
  if (weight.numel() == 1) return weighted_relu(input, view(weight, IntSpan{}));
  const int64_t channels = input.dim() > 1 ? input.size(1) : 1;
  FB_CHECK(weight.numel() == channels, "weight must have 1 element or one for each of the ",
           channels, " channels, got ", weight.numel());
  // One weight per index of dimension 1: the other dimensions broadcast.
  Dims sizes(input.dim(), 1);
  sizes[1] = channels;
  return weighted_relu(input, view(weight, sizes));
}

Tensor nn_functional_gelu(const Tensor& input, const std::string& approximate) {
  FB_CHECK(approximate == "none" || approximate == "tanh",
           "approximate must be 'none' or 'tanh', got '", approximate, "'");
  return approximate == "none" ? gelu(input) : gelu_tanh(input);
}

}  // namespace fb::ops
