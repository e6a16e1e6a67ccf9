#include "autograd/formulas/arith.h"

#include <cmath>
#include <complex>

#include "autograd/formula.h"
#include "gen/ops/backward.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/view.h"
#include "ops/output.h"

namespace fb::autograd::formula {

using namespace ops;

namespace {

Scalar log_of(const Scalar& number) {
  if (number.kind() != Scalar::Kind::kComplex) return Scalar(std::log(number.to<double>()));
  const auto z = number.to<Complex<double>>();
  const std::complex<double> result = std::log(std::complex<double>(z.re, z.im));
  return Scalar(Complex<double>(result.real(), result.imag()));
}

Tensor pow_backward_number(const Tensor& grad, const Tensor& input, const Scalar& exponent) {
  if (equals(exponent, 0.0)) return ops::zeros_like(grad);
  if (equals(exponent, 1.0)) return grad;
  if (equals(exponent, 2.0)) return ops::square_backward(grad, input);
  return grad * conj(ops::power(input, exponent - Scalar(1)) * exponent);
}

// Where the power of a base 0 is constant: the exponent is not negative.
Tensor not_negative(const Tensor& exponent) {
  if (!is_complex(exponent.dtype())) return ops::ge(exponent, 0);
  return ops::eq(ops::imag(exponent), 0) & ops::ge(ops::real(exponent), 0);
}

}  // namespace

Tensor scaled(const Tensor& grad, const Scalar& factor) {
  return equals(factor, 1.0) ? grad : grad * conj(factor);
}

Tensor pow_backward(const Tensor& grad, const Tensor& input, const Operand& exponent) {
  if (!exponent.is_tensor()) return pow_backward_number(grad, input, exponent.scalar());
  const Tensor& power_of = exponent.tensor();
  const Tensor slope = ops::power(input, power_of - 1) * power_of;
  return ops::where(ops::eq(power_of, 0), 0, grad * conj(slope));
}

Tensor pow_backward_exponent(const Tensor& grad, const Operand& input, const Tensor& exponent,
                             const Tensor& result) {
  if (!input.is_tensor()) {
    const Scalar& base = input.scalar();
    const Tensor slope = conj(result * log_of(base));
    return grad * (equals(base, 0.0) ? ops::where(not_negative(exponent), 0, slope) : slope);
  }
  const Tensor& base = input.tensor();
  const Tensor constant = ops::eq(base, 0) & not_negative(exponent);
  // An integer base has no gradient of its own, but its logarithm must be as exact as the result.
  const Tensor factor = ops::log(is_integral(base.dtype()) ? cast(base, result.dtype()) : base);
  return grad * ops::where(constant, 0, conj(result * factor));
}

Tensor sgn_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  if (!is_complex(input.dtype())) return ops::zeros_like(grad);
  const Tensor size = ops::abs(input);
  const Tensor along = ops::real(grad * conj(result)) * result;
  return ops::where(ops::eq(size, 0), 0, (grad - along) / size);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  if (!max) return ops::where(ops::ge(input, *min), grad, 0);
  if (!min) return ops::where(ops::le(input, *max), grad, 0);
  return ops::where(ops::ge(input, *min) & ops::le(input, *max), grad, 0);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const Tensor& min,
                      const Tensor& max) {
  if (!max.defined()) return ops::where(ops::ge(input, min), grad, 0);
  if (!min.defined()) return ops::where(ops::le(input, max), grad, 0);
  return ops::where(ops::ge(input, min) & ops::le(input, max), grad, 0);
}

Tensor clamp_backward_min(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor below = ops::lt(input, min);
  return ops::where(max.defined() ? below & ops::lt(min, max) : below, grad, 0);
}

Tensor clamp_backward_max(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor above = ops::gt(input, max);
  return ops::where(min.defined() ? above | ops::lt(max, min) : above, grad, 0);
}

}  // namespace fb::autograd::formula
