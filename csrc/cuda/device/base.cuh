// What every kernel begins with.
#pragma once

#include "scalar/convert.h"

#if defined(__CUDACC_RTC__)
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
#else
#include <cstdint>
#endif

// A kernel takes one structure, which the host fills: see cuda/launch.h. The emulator of the tests
// calls it as a function.
//
// A header may define FB_LEAST_BLOCKS first: how many blocks a multiprocessor must be able to hold
// at a time, which limits a thread's registers.
#if defined(FB_EMULATED)
#define FB_KERNEL(name, Arguments) extern "C" void name(const Arguments& args)
#elif defined(FB_LEAST_BLOCKS)
#define FB_KERNEL(name, Arguments)                                         \
  extern "C" __global__ void __launch_bounds__(256, FB_LEAST_BLOCKS) name( \
      const __grid_constant__ Arguments args)
#else
#define FB_KERNEL(name, Arguments) \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Arguments args)
#endif

#if defined(__CUDA_ARCH__)
namespace fb {

// The machine's instructions for what scalar/types.h computes.
template <>
FB_FN Half convert<Half, float>(const float& from) {
  Half to;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
  return to;
}
template <>
FB_FN float convert<float, Half>(const Half& from) {
  float to;
  asm("cvt.f32.f16 %0, %1;" : "=f"(to) : "h"(from.bits));
  return to;
}
#if __CUDA_ARCH__ >= 800
template <>
FB_FN BFloat16 convert<BFloat16, float>(const float& from) {
  BFloat16 to;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
  return to;
}
#endif

}  // namespace fb
#endif

namespace fb::device {

inline constexpr int kThreads = 256;

template <class T>
inline constexpr bool kIsSmallFloat = kIsSame<T, Half> || kIsSame<T, BFloat16>;

// What elements are added up in.
template <class T>
struct WideOf {
  using Type = T;
};
template <>
struct WideOf<Half> {
  using Type = float;
};
template <>
struct WideOf<BFloat16> {
  using Type = float;
};
template <class T>
using Wide = typename WideOf<T>::Type;

// How an element lies in memory: bools are bytes, any of which may be true.
template <class T>
struct StoredAs {
  using Type = T;
};
template <>
struct StoredAs<bool> {
  using Type = unsigned char;
};
template <class T>
using Stored = typename StoredAs<T>::Type;

template <class T>
__device__ inline T from_memory(Stored<T> element) {
  if constexpr (kIsBool<T>)
    return element != 0;
  else
    return element;
}

// Neighbours that are read and written at once. Addresses are multiples of 16 bytes at most, also
// where a pack is longer, which new GPUs would otherwise read by 32 bytes.
template <class T, int count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T at[count];
};

// `pack` counts packs.
template <int count, class T, class V>
__device__ inline void load_pack(const T* from, long long pack, V (&to)[count]) {
  const auto packed = reinterpret_cast<const Pack<T, count>*>(from)[pack];
#pragma unroll
  for (int p = 0; p < count; ++p) to[p] = convert<V>(packed.at[p]);
}

template <int count, class T, class V>
__device__ inline void store_pack(T* to, long long pack, const V (&from)[count]) {
  Pack<T, count> packed;
#pragma unroll
  for (int p = 0; p < count; ++p) packed.at[p] = convert<T>(from[p]);
  reinterpret_cast<Pack<T, count>*>(to)[pack] = packed;
}

}  // namespace fb::device
