// Warps: which one a thread belongs to, and what its lanes join.
#pragma once

#include "cuda/device/base.cuh"

namespace fb::device {

inline constexpr int kWarp = 32;

__device__ inline int lane_number() { return static_cast<int>(threadIdx.x) % kWarp; }
// Of the whole grid, whose blocks have kThreads threads.
__device__ inline long long warp_number() {
  return static_cast<long long>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
}

template <class T>
__device__ inline T from_lane(T value, int mask) {
  if constexpr (kIsComplex<T>)
    return {__shfl_xor_sync(~0u, value.re, mask), __shfl_xor_sync(~0u, value.im, mask)};
  else
    return __shfl_xor_sync(~0u, value, mask);
}

// The same in every lane. All lanes of the warp call it.
template <class T, class Join>
__device__ inline T join_warp(T value, Join join) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    const T other = from_lane(value, mask);
    // The lower lane's value is the first one, so that both get the same result.
    value = threadIdx.x & mask ? join(other, value) : join(value, other);
  }
  return value;
}

}  // namespace fb::device
