// A Python number as an argument of an operator: bool, int, float or complex.
#pragma once

#include "core/dtype.h"

namespace fb {

class Scalar {
 public:
  enum class Kind : uint8_t { kBool, kInt, kFloat, kComplex };

  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::kBool), int_(value) {}
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(int64_t value) : kind_(Kind::kInt), int_(value) {}
  Scalar(double value) : kind_(Kind::kFloat), float_(value) {}
  Scalar(Complex<double> value) : kind_(Kind::kComplex), float_(value.re), imag_(value.im) {}

  Kind kind() const { return kind_; }
  bool is_integral() const { return kind_ <= Kind::kInt; }

  // The type it has by itself: bool, int64, float64, complex128.
  DType dtype() const {
    constexpr DType types[] = {DType::kBool, DType::kInt64, DType::kFloat64, DType::kComplex128};
    return types[static_cast<int>(kind_)];
  }

  template <class T>
  T to() const {
    if (is_integral()) return convert<T>(int_);
    if (kind_ == Kind::kFloat) return convert<T>(float_);
    return convert<T>(Complex<double>(float_, imag_));
  }

  // Writes the value as an element of type `t`.
  void store(DType t, void* out) const {
    visit_all(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(out) = to<T>();
    });
  }

  // Reads an element of type `t`.
  static Scalar load(DType t, const void* in) {
    return visit_all(t, [&](auto tag) -> Scalar {
      using T = typename decltype(tag)::type;
      const T value = element_at(static_cast<const T*>(in));
      if constexpr (kIsBool<T>)
        return Scalar(value);
      else if constexpr (kIsComplex<T>)
        return Scalar(convert<Complex<double>>(value));
      else if constexpr (kIsInteger<T> && !__is_same(T, Half) && !__is_same(T, BFloat16))
        return Scalar(static_cast<int64_t>(value));
      else
        return Scalar(convert<double>(value));
    });
  }

  friend Text& operator<<(Text& out, const Scalar& s);

 private:
  Kind kind_;
  union {
    int64_t int_;
    double float_;
  };
  double imag_ = 0;
};

}  // namespace fb
