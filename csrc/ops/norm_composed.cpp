// Normalisations as users call them: compositions of the recorded ones, and of other operators.
#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/norm.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::ops {
namespace {

void check_several_values(const Tensor& input, int64_t values) {
  FB_CHECK_VALUE(values != 1,
                 "expected more than 1 value per channel when training, got the input shape ",
                 input.sizes());
}

// Elements that share their statistics, for an input of any dimension.
int64_t per_channel(const Tensor& input) {
  int64_t values = 1;
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != 1) values *= input.sizes()[d];
  return values;
}

int64_t plane_of(const Tensor& input) {
  return input.dim() < 2 ? 1 : numel_of(input.sizes().last(input.sizes().size() - 2));
}

// Accepted as an empty batch, although it has no channels.
bool is_empty_vector(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

// PyTorch's exception classes differ: functions of nn check the shape before they read a size.
void check_has_channels(const Tensor& input, ErrorKind kind) {
  FB_CHECK_AS(kind, input.dim() >= 2,
              "expected an input of at least 2 dimensions (batch and channels), got the shape ",
              input.sizes());
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps, bool) {
  if (is_empty_vector(input)) return ops::clone(input);
  return std::get<0>(
      ops::_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

Tensor nn_functional_batch_norm(const Tensor& input, const Tensor& running_mean,
                                const Tensor& running_var, const Tensor& weight, const Tensor& bias,
                                bool training, double momentum, double eps) {
  FB_CHECK_VALUE(training ? eps > 0 : eps >= 0, "eps must be ",
                 training ? "positive during training" : "non-negative", ", but got ", eps);
  if (is_empty_vector(input)) return ops::clone(input);
  if (training) {
    check_has_channels(input, ErrorKind::kIndex);
    check_several_values(input, per_channel(input));
  }
  return std::get<0>(
      ops::_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, const Tensor& running_mean,
                                                     const Tensor& running_var, bool training,
                                                     double momentum, double eps) {
  FB_CHECK(input.dim() < 2 || input.numel() != 0, "expected at least one element, got the shape ",
           input.sizes());
  auto results =
      ops::_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  if (!training) {
    const DType type = std::get<1>(results).dtype();
    std::get<1>(results) = make_tensor({0}, type, input.device());
    std::get<2>(results) = make_tensor({0}, type, input.device());
  }
  return results;
}

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool) {
  check_has_channels(input, ErrorKind::kIndex);
  FB_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
           "expected running_mean and running_var to be given when use_input_stats=False");
  if (!use_input_stats)
    return std::get<0>(
        ops::_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps));
  return std::get<0>(
      ops::_instance_norm(input, weight, bias, running_mean, running_var, momentum, eps));
}

Tensor nn_functional_instance_norm(const Tensor& input, const Tensor& running_mean,
                                   const Tensor& running_var, const Tensor& weight,
                                   const Tensor& bias, bool use_input_stats, double momentum,
                                   double eps) {
  FB_CHECK_VALUE(!use_input_stats || plane_of(input) != 1,
                 "expected more than 1 spatial element when training, got the input shape ",
                 input.sizes());
  return ops::instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
                            momentum, eps, true);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  check_has_channels(input, ErrorKind::kIndex);
  return std::get<0>(ops::native_group_norm(input, weight, bias, input.size(0), input.size(1),
                                            plane_of(input), num_groups, eps));
}

Tensor nn_functional_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                                const Tensor& bias, double eps) {
  check_has_channels(input, ErrorKind::kRuntime);
  FB_CHECK(num_groups > 0, "expected num_groups to be greater than 0, got ", num_groups);
  check_several_values(input, input.size(0) * input.size(1) / num_groups * plane_of(input));
  return ops::group_norm(input, num_groups, weight, bias, eps, true);
}

Tensor layer_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  return std::get<0>(ops::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

Tensor nn_functional_layer_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                                const Tensor& bias, double eps) {
  return std::get<0>(ops::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

Tensor rms_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  // The machine epsilon of the type that is computed in.
  const double spacing = input.dtype() == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                          : std::numeric_limits<float>::epsilon();
  return std::get<0>(ops::_rms_norm(input, normalized_shape, weight, eps.value_or(spacing)));
}

Tensor composed::nn_functional_local_response_norm(const Tensor& input, int64_t size, double alpha,
                                                   double beta, double k) {
  FB_CHECK_VALUE(input.dim() >= 3, "expected an input of 3 or more dimensions, got the shape ",
                 input.sizes());
  FB_CHECK(size > 0, "expected size to be greater than 0, got ", size);
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(input.dtype()), "not implemented for '",
              legacy_name_of(input.dtype()), "'");
  if (input.numel() == 0) return input;
  const Tensor squares = ops::mul(input, input);
  Dims edge = input.sizes().vec();
  edge[1] = size / 2;
  const Tensor before = ops::zeros(edge, input.dtype(), input.device());
  edge[1] = (size - 1) / 2;
  const Tensor after = ops::zeros(edge, input.dtype(), input.device());
  const Tensor parts[] = {before, squares, after};
  const Tensor padded = ops::cat(parts, 1);
  Tensor sum = ops::narrow(padded, 1, 0, input.size(1));
  for (int64_t i = 1; i < size; ++i) sum = ops::add(sum, ops::narrow(padded, 1, i, input.size(1)));
  const Tensor scale = ops::add(ops::mul(sum, alpha / static_cast<double>(size)), k);
  return ops::div(input, ops::pow(scale, Scalar(beta)));
}

Tensor nn_functional_normalize(const Tensor& input, double p, IntSpan dim, double eps) {
  return ops::div(input, ops::clamp_min(ops::norm(input, Scalar(p), dim, true, {}), eps));
}

}  // namespace fb::ops
