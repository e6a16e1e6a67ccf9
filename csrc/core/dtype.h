// The element types a tensor can hold, and facts about them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "scalar/types.h"

namespace fb {

// Ordered so that, within a category, a later type holds an earlier one's range.
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kDTypeCount = 12;

inline constexpr uint8_t kDTypeSizes[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

constexpr size_t size_of(DType t) { return kDTypeSizes[static_cast<int>(t)]; }
constexpr bool is_complex(DType t) { return t >= DType::kComplex64; }
constexpr bool is_floating(DType t) { return t >= DType::kFloat16 && t <= DType::kFloat64; }
constexpr bool is_integral(DType t, bool include_bool = true) {
  return t <= DType::kInt64 && (include_bool || t != DType::kBool);
}
constexpr bool is_reduced_float(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
constexpr bool is_signed(DType t) { return t != DType::kBool && t != DType::kUInt8; }

// "float32", as in `torch.float32`.
const char* name_of(DType t);
// PyTorch's older name for it ("Float", "Long"), which its error messages still use.
const char* legacy_name_of(DType t);
Text& operator<<(Text& out, DType t);

// The type arithmetic on `t` is carried out in: float for the 16-bit floats, otherwise `t` itself.
constexpr DType compute_type(DType t) { return is_reduced_float(t) ? DType::kFloat32 : t; }
// complex64 -> float32 and so on; a real type is its own.
constexpr DType real_type(DType t) {
  return t == DType::kComplex64 ? DType::kFloat32 : t == DType::kComplex128 ? DType::kFloat64 : t;
}
constexpr DType complex_type(DType t) {
  return is_complex(t) ? t : t == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}
// The smallest type that holds both, by PyTorch's table (uint8 with int8 gives int16; the two
// 16-bit floats give float32).
DType promote(DType a, DType b);
// Whether a result of type `from` may be stored in `to` without losing its category.
constexpr bool can_cast(DType from, DType to) {
  if (is_complex(from)) return is_complex(to);
  if (is_floating(from)) return is_floating(to) || is_complex(to);
  if (from != DType::kBool) return to != DType::kBool;
  return true;
}

template <class T>
inline constexpr DType kDTypeOf = DType::kBool;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<Complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<Complex<double>> = DType::kComplex128;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of `t`. The narrower forms refuse the other types.
template <class F>
decltype(auto) visit_all(DType t, F&& f) {
  switch (t) {
    case DType::kBool: return f(TypeTag<bool>{});
    case DType::kUInt8: return f(TypeTag<uint8_t>{});
    case DType::kInt8: return f(TypeTag<int8_t>{});
    case DType::kInt16: return f(TypeTag<int16_t>{});
    case DType::kInt32: return f(TypeTag<int32_t>{});
    case DType::kInt64: return f(TypeTag<int64_t>{});
    case DType::kFloat16: return f(TypeTag<Half>{});
    case DType::kBFloat16: return f(TypeTag<BFloat16>{});
    case DType::kFloat32: return f(TypeTag<float>{});
    case DType::kFloat64: return f(TypeTag<double>{});
    case DType::kComplex64: return f(TypeTag<Complex<float>>{});
    case DType::kComplex128: return f(TypeTag<Complex<double>>{});
  }
  __builtin_unreachable();
}

template <class F>
decltype(auto) visit_floating(DType t, F&& f) {
  switch (t) {
    case DType::kFloat32: return f(TypeTag<float>{});
    case DType::kFloat64: return f(TypeTag<double>{});
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", t);
  }
}

template <class F>
decltype(auto) visit_floating_or_complex(DType t, F&& f) {
  switch (t) {
    case DType::kComplex64: return f(TypeTag<Complex<float>>{});
    case DType::kComplex128: return f(TypeTag<Complex<double>>{});
    default: return visit_floating(t, f);
  }
}

template <class F>
decltype(auto) visit_integral(DType t, F&& f) {
  switch (t) {
    case DType::kUInt8: return f(TypeTag<uint8_t>{});
    case DType::kInt8: return f(TypeTag<int8_t>{});
    case DType::kInt16: return f(TypeTag<int16_t>{});
    case DType::kInt32: return f(TypeTag<int32_t>{});
    case DType::kInt64: return f(TypeTag<int64_t>{});
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", t);
  }
}

// Every type but complex; the 16-bit floats included.
template <class F>
decltype(auto) visit_real(DType t, F&& f) {
  switch (t) {
    case DType::kBool: return f(TypeTag<bool>{});
    case DType::kFloat16: return f(TypeTag<Half>{});
    case DType::kBFloat16: return f(TypeTag<BFloat16>{});
    case DType::kFloat32: return f(TypeTag<float>{});
    case DType::kFloat64: return f(TypeTag<double>{});
    default: return visit_integral(t, f);
  }
}

// Converts between any two element types as PyTorch does: float to int truncates, complex to real
// drops the imaginary part, anything to bool is whether it is nonzero. `from` may be an element in
// memory: bools are read as is_true reads them.
template <class To, class From>
FB_FN To convert(const From& from) {
  constexpr bool from_small = __is_same(From, Half) || __is_same(From, BFloat16);
  constexpr bool to_small = __is_same(To, Half) || __is_same(To, BFloat16);
  if constexpr (kIsBool<From>) {
    if constexpr (kIsBool<To>)
      return is_true(&from);
    else
      return convert<To>(static_cast<unsigned char>(is_true(&from)));
  } else if constexpr (__is_same(To, From)) {
    return from;
  } else if constexpr (from_small) {
    return convert<To>(static_cast<float>(from));
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>)
      return To(from);
    else if constexpr (kIsBool<To>)
      return from.re != 0 || from.im != 0;
    else
      return convert<To>(from.re);
  } else if constexpr (kIsComplex<To>) {
    return To(convert<RealOf<To>>(from));
  } else if constexpr (to_small) {
    return To(static_cast<float>(from));
  } else if constexpr (kIsBool<To>) {
    return from != From(0);
  } else if constexpr (kIsFloat<From> && kIsInteger<To> && sizeof(To) < 8) {
    // Out-of-range values wrap through int64, as x86 does it and as PyTorch shows it.
    return static_cast<To>(static_cast<int64_t>(from));
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace fb
