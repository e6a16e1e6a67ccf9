// Elements as unsigned keys that sort like them, and items that also hold a position.
#pragma once

#include "core/dtype.h"

namespace fb::cpu::FB_ISA {
namespace {

template <size_t kSize>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = unsigned char;
};
template <>
struct UnsignedOf<2> {
  using type = unsigned short;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};

// Bits that hold every key of T.
template <class T>
inline constexpr int kKeyBits = 8 * sizeof(T);

template <class T>
inline constexpr bool kHasNan = kIsFloat<T> || __is_same(T, Half) || __is_same(T, BFloat16);

// Floats: negative ones have all bits flipped, the others the sign, which orders them as integers.
// All NaNs share the largest key and both zeros one key, so that a stable sort leaves equals in
// position.
template <class T>
FB_FN auto encode(T value) {
  using U = typename UnsignedOf<sizeof(T)>::type;
  constexpr U sign = static_cast<U>(U(1) << (kKeyBits<T> - 1));
  U bits = bit_cast<U>(value);
  if constexpr (kHasNan<T>) {
    constexpr U infinity = __is_same(T, double)     ? U(0x7ff0000000000000u)
                           : __is_same(T, float)    ? U(0x7f800000u)
                           : __is_same(T, BFloat16) ? U(0x7f80u)
                                                    : U(0x7c00u);
    const U magnitude = bits & static_cast<U>(~sign);
    bits = magnitude == 0 ? U(0) : bits;
    const U key = bits & sign ? static_cast<U>(~bits) : static_cast<U>(bits | sign);
    return magnitude > infinity ? static_cast<U>(~U(0)) : key;
  } else if constexpr (kIsSigned<T>) {
    return static_cast<U>(bits ^ sign);
  } else {
    return bits;
  }
}

template <class T>
using KeyOf = typename UnsignedOf<sizeof(T)>::type;

// A key of up to 32 bits above its position, in one word: comparing words is a stable comparison of
// keys.
struct SmallItem {
  uint64_t word;
  static FB_FN SmallItem make(uint64_t key, uint32_t position) { return {key << 32 | position}; }
  static FB_FN SmallItem last() { return {~uint64_t{0}}; }
  FB_FN uint32_t position() const { return static_cast<uint32_t>(word); }
  FB_FN uint64_t key() const { return word >> 32; }
  FB_FN bool operator<(SmallItem other) const { return word < other.word; }
};

struct LargeItem {
  uint64_t word;
  uint64_t at;
  static FB_FN LargeItem make(uint64_t key, uint32_t position) { return {key, position}; }
  static FB_FN LargeItem last() { return {~uint64_t{0}, ~uint64_t{0}}; }
  FB_FN uint32_t position() const { return static_cast<uint32_t>(at); }
  FB_FN uint64_t key() const { return word; }
  FB_FN bool operator<(LargeItem other) const {
    return word < other.word || (word == other.word && at < other.at);
  }
};

template <class T>
using ItemOf = typename std::conditional<sizeof(T) == 8, LargeItem, SmallItem>::type;

// Inverted for descending order, so that the smallest key always comes first.
template <class T>
FB_FN auto key_of(T value, bool descending) {
  auto key = encode(value);
  return static_cast<decltype(key)>(descending ? ~key : key);
}

template <class T>
FB_FN ItemOf<T> item_of(const T* row, uint32_t position, bool descending) {
  return ItemOf<T>::make(key_of(element_at(row + position), descending), position);
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
