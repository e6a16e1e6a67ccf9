// Conversion between element types.
#pragma once

#include "scalar/types.h"

namespace fb {

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

// Converts between any two element types as PyTorch does: float to int truncates, complex to real
// drops the imaginary part, anything to bool is whether it is nonzero. `from` may be an element in
// memory: bools are read as is_true reads them.
template <class To, class From>
FB_FN To convert(const From& from) {
  constexpr bool from_small = kIsSame<From, Half> || kIsSame<From, BFloat16>;
  constexpr bool to_small = kIsSame<To, Half> || kIsSame<To, BFloat16>;
  if constexpr (kIsBool<From>) {
    if constexpr (kIsBool<To>)
      return is_true(&from);
    else
      return convert<To>(static_cast<unsigned char>(is_true(&from)));
  } else if constexpr (kIsSame<To, From>) {
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
    return static_cast<To>(static_cast<long long>(from));
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace fb
