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

// Added in global memory. Other than for atomicAdd, nothing comes back, which the compiler does not
// see by itself.
template <class T>
__device__ inline void add_atomically(T* at, T value) {
#if defined(__CUDA_ARCH__)
  const auto place = __cvta_generic_to_global(at);
  if constexpr (kIsSame<T, float>)
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(place), "f"(value) : "memory");
  else if constexpr (kIsSame<T, double>)
    asm volatile("red.global.add.f64 [%0], %1;" ::"l"(place), "d"(value) : "memory");
  else if constexpr (sizeof(T) == 4)
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
  else
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
#else
  join_atomically<ScatterMode::kAdd>(at, value);
#endif
}

// Neighbours, which new GPUs can add at once.
template <class T, int count>
__device__ inline void add_pack_atomically(T* at, const T (&values)[count]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (kIsSame<T, float> && count == 4)
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                     __cvta_generic_to_global(at)),
                 "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3])
                 : "memory");
  else
#endif
#pragma unroll
    for (int k = 0; k < count; ++k) add_atomically(at + k, values[k]);
}

}  // namespace fb::device
