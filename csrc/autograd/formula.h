// The language of the table's gradient expressions, as C++: operators and functions on tensors and
// numbers. The generator writes expressions almost literally; this file gives them meaning.
#pragma once

#include "autograd/record.h"
#include "gen/ops/arith.h"
#include "gen/ops/bitwise.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"

namespace fb::autograd::formula {

// Whether results from these gradients and saved values will be differentiated: recording is on, or
// one of them carries a tangent. Fused kernels have no derivatives and know nothing of tangents, so
// formulas are then composed of operators.
template <class... T>
bool is_differentiated(const T&... of) {
  if (is_recording()) return true;
  return (flags_of(of) | ...) & (kBatched | kDual) && !mode.quiet && (carries_tangent(of) || ...);
}

inline Tensor operator+(const Operand& a, const Operand& b) { return ops::add(a, b); }
inline Tensor operator-(const Operand& a, const Operand& b) { return ops::sub(a, b); }
inline Tensor operator*(const Operand& a, const Operand& b) { return ops::mul(a, b); }
inline Tensor operator/(const Operand& a, const Operand& b) { return ops::div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator~(const Tensor& a) { return ops::bitwise_not(a); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return ops::bitwise_and(a, b); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return ops::bitwise_or(a, b); }

// Arithmetic of numbers, by Python's rules.
Scalar operator+(const Scalar& a, const Scalar& b);
Scalar operator-(const Scalar& a, const Scalar& b);
Scalar operator*(const Scalar& a, const Scalar& b);
Scalar operator/(const Scalar& a, const Scalar& b);
Scalar operator-(const Scalar& a);
bool equals(const Scalar& a, double b);

// Comparisons of plain numbers give a bool, those of tensors a tensor.
#define FB_COMPARISON(name, sign)                                                   \
  inline Tensor name(const Tensor& a, const Operand& b) { return ops::name(a, b); } \
  inline bool name(int64_t a, int64_t b) { return a sign b; }                       \
  inline bool name(int a, int64_t b) { return a sign b; }                           \
  inline bool name(int64_t a, int b) { return a sign b; }                           \
  inline bool name(double a, double b) { return a sign b; }                         \
  inline bool name(double a, int b) { return a sign b; }                            \
  inline bool name(const Scalar& a, int b) { return a.to<double>() sign b; }        \
  inline bool name(const Scalar& a, double b) { return a.to<double>() sign b; }
FB_COMPARISON(lt, <)
FB_COMPARISON(le, <=)
FB_COMPARISON(gt, >)
FB_COMPARISON(ge, >=)
FB_COMPARISON(eq, ==)
FB_COMPARISON(ne, !=)
#undef FB_COMPARISON
inline bool eq(const std::string& a, const char* b) { return a == b; }
inline bool ne(const std::string& a, const char* b) { return a != b; }

inline Tensor conj(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }
Scalar conj(const Scalar& s);
inline Value conj(const Value& v) {
  return v.is_tensor() ? Value(conj(v.tensor())) : Value(conj(v.scalar()));
}

inline int64_t ndim_of(IntSpan shape) { return static_cast<int64_t>(shape.size()); }
inline int64_t size_of_dim(IntSpan shape, int64_t dim) {
  return shape.empty() ? 1 : shape[static_cast<size_t>(wrap_dim(dim, ndim_of(shape)))];
}
inline int64_t numel_of_shape(IntSpan shape) { return numel_of(shape); }

}  // namespace fb::autograd::formula
