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
#if defined(FB_EMULATED)
#define FB_KERNEL(name, Arguments) extern "C" void name(const Arguments& args)
#else
#define FB_KERNEL(name, Arguments) \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Arguments args)
#endif

namespace fb::device {

inline constexpr int kThreads = 256;

template <class T>
inline constexpr bool kIsSmallFloat = kIsSame<T, Half> || kIsSame<T, BFloat16>;

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

// Neighbours that are read and written at once.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T at[count];
};

}  // namespace fb::device
