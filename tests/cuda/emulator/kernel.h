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
  unsigned shown[1024][8];
};

inline FbState* fb_state;
extern "C" void fb_bind(FbState* state) { fb_state = state; }

#define threadIdx (fb_state->thread)
#define blockIdx (fb_state->block)
#define blockDim (fb_state->block_size)
#define gridDim (fb_state->grid)

inline void __syncthreads() { fb_state->meet(false); }
inline void __syncwarp(unsigned = ~0u) { fb_state->meet(true); }
inline void __threadfence_system() {}

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
// What all lanes of the warp give, until fb_shown.
template <int count>
const unsigned (*fb_show(const unsigned (&own)[count]))[8] {
  const unsigned self = fb_state->thread.x;
  __builtin_memcpy(fb_state->shown[self], own, sizeof own);
  fb_state->meet(true);
  return fb_state->shown + self / 32 * 32;
}
inline void fb_shown() { fb_state->meet(true); }
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return fb_exchange(value, (fb_state->thread.x % 32) ^ mask);
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return fb_exchange(value, lane);
}

template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  const unsigned lane = fb_state->thread.x % 32;
  return fb_exchange(value, lane >= by ? lane - by : lane);
}
// Of the lanes for which chosen(the lane's value) holds.
template <class T, class Chosen>
unsigned fb_vote(T value, Chosen chosen) {
  const unsigned self = fb_state->thread.x, first = self / 32 * 32;
  fb_state->lanes[self] = static_cast<unsigned long long>(value);
  fb_state->meet(true);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32 && first + lane < fb_state->block_size.x; ++lane)
    votes |= static_cast<unsigned>(chosen(fb_state->lanes[first + lane])) << lane;
  fb_state->meet(true);
  return votes;
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  return fb_vote(predicate != 0, [](unsigned long long other) { return other != 0; });
}
template <class T>
unsigned __match_any_sync(unsigned, T value) {
  const auto own = static_cast<unsigned long long>(value);
  return fb_vote(value, [own](unsigned long long other) { return other == own; });
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

// CUDA's own functions that the kernels call by name; its fast ones are as exact as others here.
// Declared as glibc's headers declare some of these names for themselves.
extern "C" {
inline float __logf(float x) noexcept { return __builtin_logf(x); }
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = __builtin_sinf(x), *cosine = __builtin_cosf(x);
}
}
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline void sincospi(double x, double* sine, double* cosine) {
  constexpr double pi = 3.14159265358979323846;
  *sine = __builtin_sin(pi * x), *cosine = __builtin_cos(pi * x);
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
template <class T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at |= value;
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  const T before = *at;
  if (before < value) *at = value;
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  const T before = *at;
  if (value < before) *at = value;
  return before;
}
