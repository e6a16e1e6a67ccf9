// Activation functions whose arguments need more than an element function.
#include "gen/ops/activation.h"

#include "core/warning.h"
#include "gen/ops/arith.h"
#include "gen/ops/backward.h"
#include "gen/ops/softmax.h"
#include "gen/ops/view.h"
#include "ops/held.h"
#include "ops/random_fill.h"

namespace fb::ops {
namespace {

// The dimension that softmax and similar functions take when none is given.
int64_t softmax_dim(const char* name, const Tensor& input, std::optional<int64_t> dim) {
  if (dim) return *dim;
  warn("Implicit dimension choice for ", name,
       " has been deprecated. Change the call to include dim=X as an argument.");
  return input.dim() <= 1 || input.dim() == 3 ? 0 : 1;
}

}  // namespace

void check_lambd(std::span<const Operand>, std::span<const Scalar> params, DType) {
  FB_CHECK(params[0].to<double>() >= 0.0, "lambd must not be negative, got ", params[0]);
}

void check_limits(std::span<const Operand>, std::span<const Scalar> params, DType common) {
  FB_CHECK(common != DType::kUInt8 || params[0].to<double>() >= 0.0,
           "uint8 elements cannot be clamped to a negative limit, got ", params[0]);
  FB_CHECK_VALUE(!(params[0].to<double>() > params[1].to<double>()),
                 "min_val cannot be greater than max_val, got ", params[0], " and ", params[1]);
  for (const Scalar& limit : params) check_held(common, limit);
}

Tensor composed::prelu(const Tensor& input, const Tensor& weight) {
  FB_CHECK(weight.dim() <= 1, "weight must have at most one dimension, got the shape ",
           weight.sizes());
  if (weight.numel() == 1) return ops::prelu_kernel(input, ops::view(weight, IntSpan{}));
  const int64_t channels = input.dim() > 1 ? input.size(1) : 1;
  FB_CHECK(weight.numel() == channels, "weight must have 1 element or one for each of the ",
           channels, " channels, got ", weight.numel());
  // One weight per index of dimension 1: the other dimensions broadcast.
  Dims sizes(input.dim(), 1);
  sizes[1] = channels;
  return ops::prelu_kernel(input, ops::view(weight, sizes));
}

Tensor nn_functional_gelu(const Tensor& input, const std::string& approximate) {
  FB_CHECK(approximate == "none" || approximate == "tanh",
           "approximate must be 'none' or 'tanh', got '", approximate, "'");
  return approximate == "none" ? ops::gelu(input) : ops::gelu_tanh(input);
}

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, Generator* generator) {
  FB_CHECK(lower <= upper, "lower bound ", lower, " is above the upper bound ", upper);
  if (!training) return ops::leaky_relu(input, (lower + upper) / 2);
  return std::get<0>(ops::rrelu_with_noise(input, lower, upper, generator));
}

// As in PyTorch, only elements that are not positive draw, one after the other.
std::tuple<Tensor, Tensor> compute::rrelu_with_noise(const Tensor& input, double lower,
                                                     double upper, Generator* generator) {
  // 16-bit floats are computed in float32.
  const DType type = input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Tensor x = contiguous(cast(input, type));
  Tensor result = make_tensor(x.sizes(), x.dtype(), x.device()),
         slopes = make_tensor(x.sizes(), x.dtype(), x.device());
  kernel::of(x).scale_negative(generator_for(x, generator), x.dtype(), x.data(), result.data(),
                               slopes.data(), x.numel(), lower, upper);
  return {cast(result, input.dtype()), cast(slopes, input.dtype())};
}

Tensor compute::nn_functional_glu(const Tensor& input, int64_t dim) {
  FB_CHECK(input.dim() > 0, "a 0-dimensional tensor cannot be halved");
  const int64_t size = input.size(dim);
  FB_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ",
           wrap_dim(dim, input.dim()), " is size ", size);
  return compute::gated(ops::narrow(input, dim, 0, size / 2),
                        ops::narrow(input, dim, size / 2, size / 2));
}

Tensor compute::glu_backward(const Tensor& gradient, const Tensor& input, int64_t dim) {
  const int64_t half = input.size(dim) / 2;
  const Tensor first = ops::narrow(input, dim, 0, half), gate = ops::narrow(input, dim, half, half);
  Tensor result = make_tensor(input.sizes(), input.dtype(), input.device());
  compute::gated_out(ops::narrow(result, dim, 0, half), gradient, gate);
  compute::glu_gate_backward_out(ops::narrow(result, dim, half, half), gradient, first, gate);
  return result;
}

Tensor nn_functional_softmax(const Tensor& input, std::optional<int64_t> dim, int64_t,
                             std::optional<DType> dtype) {
  return ops::softmax(input, softmax_dim("softmax", input, dim), dtype);
}

Tensor nn_functional_log_softmax(const Tensor& input, std::optional<int64_t> dim, int64_t,
                                 std::optional<DType> dtype) {
  return ops::log_softmax(input, softmax_dim("log_softmax", input, dim), dtype);
}

Tensor nn_functional_softmin(const Tensor& input, std::optional<int64_t> dim, int64_t,
                             std::optional<DType> dtype) {
  return ops::softmax(ops::neg(input), softmax_dim("softmin", input, dim), dtype);
}

}  // namespace fb::ops
