// How values for the same place are joined: in order, or by whoever comes.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/segments_args.h"
#include "scalar/arith.h"

namespace fb::device {

template <ScatterMode mode, class V>
__device__ inline V join_values(V a, V b) {
  if constexpr (mode == ScatterMode::kAdd)
    return scalar::add(a, b, V(1));
  else if constexpr (mode == ScatterMode::kMultiply)
    return scalar::mul(a, b);
  else if constexpr (mode == ScatterMode::kStore || kIsComplex<V>)
    return b;
  else  // NaN wins over every number
    return (mode == ScatterMode::kMax ? b > a : b < a) || b != b ? b : a;
}

template <int bytes>
struct AtomicOf {
  using Type = unsigned;
};
template <>
struct AtomicOf<8> {
  using Type = unsigned long long;
};

// Numbers of 32 or 64 bits.
template <ScatterMode mode, class T>
__device__ inline void join_atomically(T* at, T value) {
  using U = typename AtomicOf<static_cast<int>(sizeof(T))>::Type;
  if constexpr (mode == ScatterMode::kAdd) {
    if constexpr (kIsFloat<T>)
      atomicAdd(at, value);
    else
      atomicAdd(reinterpret_cast<U*>(at), static_cast<U>(value));
  } else {
    auto* const bits = reinterpret_cast<U*>(at);
    U before = *static_cast<volatile U*>(bits);
    for (;;) {
      const U joined = bit_cast<U>(join_values<mode>(bit_cast<T>(before), value));
      if (joined == before) return;
      const U found = atomicCAS(bits, before, joined);
      if (found == before) return;
      before = found;
    }
  }
}

}  // namespace fb::device
