// Arithmetic that is more than one element function: checks of its arguments, and compositions.
#include "gen/ops/arith.h"

#include <limits>

#include "gen/ops/activation.h"
#include "gen/ops/copy.h"
#include "gen/ops/explog.h"
#include "kernel/table.h"
#include "ops/held.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {

void check_alpha(std::span<const Operand>, std::span<const Scalar> params, DType common) {
  const Scalar::Kind kind = params[0].kind();
  FB_CHECK(kind != Scalar::Kind::kBool || common == DType::kBool,
           "a bool alpha needs a bool result, got ", common);
  FB_CHECK(is_floating(common) || is_complex(common) || params[0].is_integral(),
           "alpha must be an integer for a result of type ", common, ", got ", params[0]);
  FB_CHECK(is_complex(common) || kind != Scalar::Kind::kComplex,
           "alpha must be real for a result of type ", common, ", got ", params[0]);
  check_held(common, params[0]);
}

void check_numbers(std::span<const Operand> inputs, std::span<const Scalar> params, DType common) {
  for (const Operand& operand : inputs)
    if (!operand.is_tensor()) check_held(common, operand.scalar());
  for (const Scalar& number : params) check_held(common, number);
}

void check_subtraction(std::span<const Operand> inputs, std::span<const Scalar> params,
                       DType common) {
  for (const Operand& operand : inputs)
    FB_CHECK(!operand.is_tensor() || operand.tensor().dtype() != DType::kBool,
             "a bool tensor cannot be subtracted or subtracted from; use ~ or ^ or logical_xor()");
  check_alpha(inputs, params, common);
}

void check_one_type(std::span<const Operand> inputs, std::span<const Scalar>, DType common) {
  const DType first = inputs[0].tensor().dtype();
  for (const Operand& operand : inputs.subspan(1))
    FB_CHECK(!operand.is_tensor() || operand.tensor().dtype() == first,
             "all tensors must have the same dtype, got ", first, " and ",
             operand.tensor().dtype());
  FB_CHECK(common == first, "a number of type ", common, " does not fit tensors of type ", first);
}

// PyTorch's words for an integer division by zero, which programs match.
void check_divisor(std::span<const Operand> inputs, std::span<const Scalar>, DType common) {
  if (!is_integral(common)) return;
  const Operand& divisor = inputs[1];
  bool has_zero = false;
  if (!divisor.is_tensor()) {
    has_zero = divisor.scalar().to<int64_t>() == 0;
  } else if (divisor.tensor().numel() != 0) {
    const Tensor values = contiguous(divisor.tensor());
    has_zero = kernel::of(values).has_zero(values.dtype(), values.data(), values.numel());
  }
  FB_CHECK(!has_zero, "ZeroDivisionError");
}

Tensor compute::div(const Operand& input, const Operand& other,
                    std::optional<std::string> rounding_mode) {
  if (!rounding_mode) return compute::div(input, other);
  FB_CHECK(*rounding_mode == "trunc" || *rounding_mode == "floor",
           "rounding_mode must be None, 'trunc' or 'floor', got '", *rounding_mode, "'");
  return *rounding_mode == "trunc" ? compute::div_trunc(input, other)
                                   : compute::floor_divide(input, other);
}

std::tuple<Tensor, Tensor> compute::frexp(const Tensor& input) {
  // The layout of other operators' results; all three tensors are dense and in the same order.
  const Tensor x = copy_of(cast(input, compute_type(input.dtype())));
  const Tensor mantissa = make_like(x, x.dtype());
  const Tensor exponent = make_like(x, DType::kInt32);
  kernel::of(x).frexp(x.dtype(), x.numel(), x.data(), mantissa.data(), exponent.data_as<int32_t>());
  return {cast(mantissa, input.dtype()), exponent};
}

Tensor positive(const Tensor& input) {
  FB_CHECK(input.dtype() != DType::kBool, "the + operator is not defined for bool tensors");
  return input;
}

Tensor compute::square_any(const Tensor& input) {
  return compute::square(input.dtype() == DType::kBool ? cast(input, DType::kInt64) : input);
}

namespace {

// Constant exponents that have a faster and more exact form than a power.
bool constant_power(const Tensor& base, double exponent, Tensor& result) {
  if (exponent == 2.0)
    result = ops::square(base);
  else if (exponent == 0.5)
    result = ops::sqrt(base);
  else if (exponent == 1.5)
    result = ops::mul(base, ops::sqrt(base));
  else if (exponent == 1.0)
    result = copy_of(base);
  else if (exponent == 3.0)
    result = ops::mul(ops::square(base), base);
  else if (exponent == -1.0)
    result = ops::reciprocal(base);
  else if (exponent == -0.5)
    result = ops::rsqrt(base);
  else if (exponent == -2.0)
    result = ops::reciprocal(ops::square(base));
  else
    return false;
  return true;
}

}  // namespace

Tensor compute::power(const Operand& input, const Operand& exponent) {
  if (input.is_tensor() && !exponent.is_tensor()) {
    const Tensor& base = input.tensor();
    const Scalar& number = exponent.scalar();
    const bool negative_integer = number.is_integral() && number.to<int64_t>() < 0;
    FB_CHECK(!(is_integral(base.dtype()) && negative_integer),
             "integers to negative integer powers are not allowed, got the exponent ", number);
    Tensor result;
    if ((is_floating(base.dtype()) || is_complex(base.dtype())) &&
        number.kind() != Scalar::Kind::kComplex &&
        constant_power(base, number.to<double>(), result))
      return result;
  }
  return compute::pow(input, exponent);
}

Tensor float_power(const Operand& input, const Operand& exponent) {
  const Operand operands[] = {input, exponent};
  const DType wide = is_complex(ops::result_type(operands)) ? DType::kComplex128 : DType::kFloat64;
  const auto widen = [&](const Operand& operand) -> Tensor {
    return operand.is_tensor() ? ops::to_dtype(operand.tensor(), wide) : Tensor();
  };
  const Tensor base = widen(input), raised = widen(exponent);
  return ops::power(input.is_tensor() ? Operand(base) : input,
                    exponent.is_tensor() ? Operand(raised) : exponent);
}

namespace {

void check_bounds(bool has_min, bool has_max) {
  FB_CHECK(has_min || has_max, "at least one of 'min' and 'max' must not be None");
}

}  // namespace

Tensor compute::clamp(const Tensor& input, std::optional<Scalar> min, std::optional<Scalar> max) {
  check_bounds(min.has_value(), max.has_value());
  if (!max) return compute::clamp_min(input, *min);
  if (!min) return compute::clamp_max(input, *max);
  const Operand operands[] = {input, *min, *max};
  for (const Scalar& bound : {*min, *max}) check_held(ops::result_type(operands), bound);
  const bool is_range = min->to<double>() <= max->to<double>();
  if (is_floating(input.dtype()) && ops::result_type(operands) == input.dtype() && is_range)
    return compute::hardtanh(input, min->to<double>(), max->to<double>());
  return compute::clamp(operands[0], operands[1], operands[2]);
}

Tensor compute::clamp(const Tensor& input, const Tensor& min, const Tensor& max) {
  check_bounds(min.defined(), max.defined());
  if (!max.defined()) return compute::clamp_min(input, min);
  if (!min.defined()) return compute::clamp_max(input, max);
  return compute::clamp(Operand(input), Operand(min), Operand(max));
}

Tensor compute::nan_to_num(const Tensor& input, std::optional<double> nan,
                           std::optional<double> posinf, std::optional<double> neginf) {
  if (is_integral(input.dtype())) return copy_of(input);
  const double largest = [&] {
    switch (real_type(input.dtype())) {
      case DType::kFloat16: return 65504.0;
      case DType::kBFloat16: return 0x1.fep127;
      case DType::kFloat32: return static_cast<double>(std::numeric_limits<float>::max());
      default: return std::numeric_limits<double>::max();
    }
  }();
  return compute::nan_to_num(input, nan.value_or(0.0), posinf.value_or(largest),
                             neginf.value_or(-largest));
}

}  // namespace fb::ops
