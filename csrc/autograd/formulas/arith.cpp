#include "autograd/formulas/arith.h"

#include <cmath>
#include <complex>

#include "gen/ops/arith.h"
#include "gen/ops/backward.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/view.h"
#include "ops/output.h"

namespace fb::autograd::formula {

using namespace ops;

namespace {

Scalar conjugate(const Scalar& number) {
  if (number.kind() != Scalar::Kind::kComplex) return number;
  const auto value = number.to<Complex<double>>();
  return Scalar(Complex<double>(value.re, -value.im));
}

bool equals(const Scalar& number, double value) {
  const auto z = number.to<Complex<double>>();
  return z.re == value && z.im == 0.0;
}

Scalar one_less(const Scalar& number) {
  if (number.kind() == Scalar::Kind::kComplex) {
    const auto value = number.to<Complex<double>>();
    return Scalar(Complex<double>(value.re - 1.0, value.im));
  }
  if (number.is_integral()) return Scalar(number.to<int64_t>() - 1);
  return Scalar(number.to<double>() - 1.0);
}

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
  return mul(grad, conj(mul(power(input, one_less(exponent)), exponent)));
}

// Where the power of a base 0 is constant: the exponent is no negative number.
Tensor not_negative(const Tensor& exponent) {
  if (!is_complex(exponent.dtype())) return ge(exponent, 0);
  return logical_and(eq(imag(exponent), 0), ge(real(exponent), 0));
}

}  // namespace

Tensor scaled(const Tensor& grad, const Scalar& factor) {
  return equals(factor, 1.0) ? grad : mul(grad, conjugate(factor));
}

Tensor pow_backward(const Tensor& grad, const Tensor& input, const Operand& exponent) {
  if (!exponent.is_tensor()) return pow_backward_number(grad, input, exponent.scalar());
  const Tensor& power_of = exponent.tensor();
  const Tensor slope = mul(power(input, sub(power_of, 1)), power_of);
  return where(eq(power_of, 0), 0, mul(grad, conj(slope)));
}

Tensor pow_backward_exponent(const Tensor& grad, const Operand& input, const Tensor& exponent,
                             const Tensor& result) {
  if (!input.is_tensor()) {
    const Scalar& base = input.scalar();
    const Tensor slope = conj(mul(result, log_of(base)));
    return mul(grad, equals(base, 0.0) ? where(not_negative(exponent), 0, slope) : slope);
  }
  const Tensor& base = input.tensor();
  const Tensor constant = logical_and(eq(base, 0), not_negative(exponent));
  // An integer base has no gradient of its own, but its logarithm must be as exact as the result.
  const Tensor factor = log(is_integral(base.dtype()) ? cast(base, result.dtype()) : base);
  return mul(grad, where(constant, 0, conj(mul(result, factor))));
}

Tensor sgn_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  if (!is_complex(input.dtype())) return zeros_like(grad);
  const Tensor size = abs(input);
  const Tensor along = mul(real(mul(grad, conj(result))), result);
  return where(eq(size, 0), 0, div(sub(grad, along), size));
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  if (!max) return where(ge(input, *min), grad, 0);
  if (!min) return where(le(input, *max), grad, 0);
  return where(logical_and(ge(input, *min), le(input, *max)), grad, 0);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& input, const Tensor& min,
                      const Tensor& max) {
  if (!max.defined()) return where(ge(input, min), grad, 0);
  if (!min.defined()) return where(le(input, max), grad, 0);
  return where(logical_and(ge(input, min), le(input, max)), grad, 0);
}

Tensor clamp_backward_min(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor below = lt(input, min);
  return where(max.defined() ? logical_and(below, lt(min, max)) : below, grad, 0);
}

Tensor clamp_backward_max(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max) {
  const Tensor above = gt(input, max);
  return where(min.defined() ? logical_or(above, lt(max, min)) : above, grad, 0);
}

}  // namespace fb::autograd::formula
