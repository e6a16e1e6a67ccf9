// Printing of numbers in messages.
#include "core/scalar.h"

namespace fb {

Text& operator<<(Text& out, const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::kBool: return out << (s.int_ ? "True" : "False");
    case Scalar::Kind::kInt: return out << s.int_;
    case Scalar::Kind::kFloat: return out << s.float_;
    case Scalar::Kind::kComplex:
      return out << '(' << s.float_ << (s.imag_ < 0 ? "" : "+") << s.imag_ << "j)";
  }
  return out;
}

}  // namespace fb
