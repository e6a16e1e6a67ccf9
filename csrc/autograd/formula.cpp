// Arithmetic of the numbers in gradient expressions.
#include "autograd/formula.h"

namespace fb::autograd::formula {
namespace {

template <class F>
Scalar combine(const Scalar& a, const Scalar& b, F&& f) {
  if (a.kind() == Scalar::Kind::kComplex || b.kind() == Scalar::Kind::kComplex)
    return f(a.to<Complex<double>>(), b.to<Complex<double>>());
  if (a.is_integral() && b.is_integral()) return f(a.to<int64_t>(), b.to<int64_t>());
  return f(a.to<double>(), b.to<double>());
}

}  // namespace

Scalar operator+(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x + y); });
}
Scalar operator-(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x - y); });
}
Scalar operator*(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x * y); });
}
Scalar operator/(const Scalar& a, const Scalar& b) {
  if (a.kind() == Scalar::Kind::kComplex || b.kind() == Scalar::Kind::kComplex)
    return a.to<Complex<double>>() / b.to<Complex<double>>();
  return a.to<double>() / b.to<double>();
}
Scalar operator-(const Scalar& a) { return Scalar(int64_t{0}) - a; }

bool equals(const Scalar& a, double b) {
  if (a.kind() == Scalar::Kind::kComplex) {
    const auto z = a.to<Complex<double>>();
    return z.re == b && z.im == 0;
  }
  return a.to<double>() == b;
}

Scalar conj(const Scalar& s) {
  if (s.kind() != Scalar::Kind::kComplex) return s;
  const auto z = s.to<Complex<double>>();
  return Complex<double>(z.re, -z.im);
}

}  // namespace fb::autograd::formula
