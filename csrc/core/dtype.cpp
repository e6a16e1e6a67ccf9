// Names of the element types and the promotion table.
#include "core/dtype.h"

#include <utility>

namespace fb {
namespace {

constexpr const char* kNames[kDTypeCount] = {"bool",    "uint8",   "int8",      "int16",
                                             "int32",   "int64",   "float16",   "bfloat16",
                                             "float32", "float64", "complex64", "complex128"};
constexpr const char* kLegacyNames[kDTypeCount] = {
    "Bool", "Byte",     "Char",  "Short",  "Int",          "Long",
    "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};

}  // namespace

const char* name_of(DType t) { return kNames[static_cast<int>(t)]; }
const char* legacy_name_of(DType t) { return kLegacyNames[static_cast<int>(t)]; }
Text& operator<<(Text& out, DType t) { return out << name_of(t); }

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // b is the later one of the enumeration
  if (is_complex(b)) {
    // complex64 holds every type but float64.
    return a == DType::kFloat64 ? DType::kComplex128 : b;
  }
  if (a == DType::kFloat16 && b == DType::kBFloat16) return DType::kFloat32;
  if (is_floating(b)) return b;
  // Two integral types: only uint8 does not fit into the signed type of its own size.
  if (a == DType::kUInt8 && b == DType::kInt8) return DType::kInt16;
  return b;
}

}  // namespace fb
