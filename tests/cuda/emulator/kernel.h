// What CUDA's own names mean in a kernel that is compiled for the processor: see emulator.cpp.
#pragma once

#define FB_EMULATED 1
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

struct FbIndex {
  unsigned x, y, z;
};

// Of the thread that runs; the emulator switches threads only in `meet`.
struct FbState {
  FbIndex thread, block, block_size, grid;
  // Waits for all threads of the block, or of the warp that are still there.
  void (*meet)(bool warp);
  unsigned long long lanes[1024];
};

inline FbState* fb_state;
extern "C" void fb_bind(FbState* state) { fb_state = state; }

#define threadIdx (fb_state->thread)
#define blockIdx (fb_state->block)
#define blockDim (fb_state->block_size)
#define gridDim (fb_state->grid)

inline void __syncthreads() { fb_state->meet(false); }
inline void __syncwarp(unsigned = ~0u) { fb_state->meet(true); }

template <class T>
T fb_exchange(T value, unsigned lane) {
  const unsigned self = fb_state->thread.x;
  static_assert(sizeof(T) <= 8);
  __builtin_memcpy(&fb_state->lanes[self], &value, sizeof value);
  fb_state->meet(true);
  T other = value;
  const unsigned from = self / 32 * 32 + lane % 32;
  if (from < fb_state->block_size.x) __builtin_memcpy(&other, &fb_state->lanes[from], sizeof other);
  fb_state->meet(true);
  return other;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return fb_exchange(value, (fb_state->thread.x % 32) ^ mask);
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return fb_exchange(value, lane);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

template <class T>
T atomicCAS(T* at, T expected, T value) {
  const T before = *at;
  if (before == expected) *at = value;
  return before;
}
template <class T>
T atomicCAS_system(T* at, T expected, T value) {
  return atomicCAS(at, expected, value);
}
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at += value;
  return before;
}
