// Arithmetic on tensors as formulas are written down: a * b - c instead of sub(mul(a, b), c).
#pragma once

#include "gen/ops/arith.h"
#include "gen/ops/complex.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator+(const Tensor& a, const ops::Operand& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const ops::Operand& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const ops::Operand& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const ops::Operand& b) { return ops::div(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::mul(b, a); }

// The last two dimensions exchanged.
inline Tensor transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }
// The same, and complex elements conjugated.
inline Tensor adjoint_of(const Tensor& t) {
  return is_complex(t.dtype()) ? ops::conj(transposed(t)) : transposed(t);
}

}  // namespace fb::autograd::formula
