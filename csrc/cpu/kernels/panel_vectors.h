// Vectors of a padded column, and masks of the lanes that are rows in question.
#pragma once

#include <cstdint>

#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {

template <class T>
using LaneIndex = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T, size_t... lane>
FB_FN Vec<LaneIndex<T>, sizeof...(lane)> count_lanes(std::index_sequence<lane...>) {
  return Vec<LaneIndex<T>, sizeof...(lane)>{static_cast<LaneIndex<T>>(lane)...};
}

// The lanes from number n on, or those before it.
template <class T>
FB_FN auto lanes_from(int64_t n) {
  return count_lanes<T>(std::make_index_sequence<kLanes<T>>()) >=
         broadcast<LaneIndex<T>, kLanes<T>>(static_cast<LaneIndex<T>>(n));
}
template <class T>
FB_FN auto lanes_before(int64_t n) {
  return count_lanes<T>(std::make_index_sequence<kLanes<T>>()) <
         broadcast<LaneIndex<T>, kLanes<T>>(static_cast<LaneIndex<T>>(n));
}

template <class T>
FB_FN Vec<T> load_vector(const T* p) {
  return load<T, kLanes<T>>(p);
}
template <class T>
FB_FN Vec<T> broadcast_vector(T value) {
  return broadcast<T, kLanes<T>>(value);
}
template <class T>
FB_FN Vec<T> magnitude(const Vec<T>& v) {
  return v < 0 ? -v : v;
}

// The row at which the vector that has row k begins.
template <class T>
FB_FN int64_t first_of_vector(int64_t k) {
  return k / kLanes<T> * kLanes<T>;
}

}  // namespace fb::cpu::FB_ISA
