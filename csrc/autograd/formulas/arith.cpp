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
  if (equals(exponent, 0.0)) return zeros_like(grad);
  if (equals(exponent, 1.0)) return grad;
  if (equals(exponent, 2.0)) return square_backward(grad, input);
  return grad * conj(power(input, exponent - Scalar(1)) * exponent);
}

// Where the power of a base 0 is constant: the exponent is no negative number.
Tensor not_negative(const Tensor& exponent) {
  if (!is_complex(exponent.dtype())) return ge(exponent, 0);
  return eq(imag(exponent), 0) & ge(real(exponent), 0);
}

}  // namespace

Tensor scaled(const Tensor& grad, const Scalar& factor) {
  return equals(factor, 1.0) ? grad : grad * conj(factor);
}

Tensor pow_backward(const Tensor& grad, const Tensor& input, const Operand& exponent) {
  if (!exponent.is_tensor()) return pow_backward_number(grad, input, exponent.scalar());
  const Tensor& power_of = exponent.tensor();
  const Tensor slope = power(input, power_of - 1) * power_of;
  return where(eq(power_of, 0), 0, grad * conj(slope));
}

Tensor pow_backward_exponent(const Tensor& grad, const Operand& input, const Tensor& exponent,
                             const Tensor& result) {
  if (!input.is_tensor()) {
    const Scalar& base = input.scalar();
    const Tensor slope = conj(result * log_of(base));
    return grad * (equals(base, 0.0) ? where(not_negative(exponent), 0, slope) : slope);
  }
  const Tensor& base = input.tensor();
  const Tensor constant = eq(base, 0) & not_negative(exponent);
  // An integer base has no gradient of its own, but its logarithm must be as exact as the result.
  const Tensor factor = log(is_integral(base.dtype()) ? cast(base, result.dtype()) : base);
  return grad * where(constant, 0, conj(result * factor));
}

Tensor sgn_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  if (!is_complex(input.dtype())) return zeros_like(grad);
  const Tensor size = abs(input);
  const Tensor along = real(grad * conj(result)) * result;
  return where(eq(size, 0), 0, (grad - along) / size);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  if (!max) return where(ge(input, *min), grad, 0);
  if (!min) return where(le(input, *max), grad, 0);
  return where(ge(input, *min) & le(input, *max), grad, 0);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const Tensor& min,
                      const Tensor& max) {
  if (!max.defined()) return where(ge(input, min), grad, 0);
  if (!min.defined()) return where(le(input, max), grad, 0);
  return where(ge(input, min) & le(input, max), grad, 0);
}

Tensor clamp_backward_min(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor below = lt(input, min);
  return where(max.defined() ? below & lt(min, max) : below, grad, 0);
}

Tensor clamp_backward_max(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor above = gt(input, max);
  return where(min.defined() ? above | lt(max, min) : above, grad, 0);
}

}  // namespace fb::autograd::formula
