// Products of small matrices by tensor cores, for 16-bit elements and GPUs of capability 8.0 on:
// the instructions, and what the emulator of the tests does instead.
//
// A warp multiplies 16 x 16 by 16 x 8 elements and adds the product to 16 x 8 floats. With
// g = lane / 4 and t = lane % 4, a lane has of the sum: columns 2t and 2t + 1 of rows g and g + 8;
// of the left matrix the same rows, at columns 2t, 2t + 1 and, in the registers behind, 8 further
// on; of the right one column g, at rows 2t, 2t + 1 and 8 further on. So a sum becomes a left
// matrix by rounding, without an exchange.
#pragma once

#include "cuda/device/lanes.cuh"

namespace fb::device {

// Two elements in a register, the first one in its lower half.
template <class T>
__device__ inline unsigned pack_pair(float first, float second) {
  unsigned packed;
#if defined(FB_EMULATED)
  const T pair[] = {convert<T>(first), convert<T>(second)};
  __builtin_memcpy(&packed, pair, sizeof packed);
#else
  if constexpr (kIsSame<T, Half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
#endif
  return packed;
}

#if defined(FB_EMULATED)

template <class T>
inline float half_of_pair(unsigned packed, int which) {
  T pair[2];
  __builtin_memcpy(pair, &packed, sizeof packed);
  return convert<float>(pair[which]);
}

template <class T>
inline void multiply_add(float (&sum)[4], const unsigned (&left)[4], unsigned right_low,
                         unsigned right_high) {
  const unsigned own[] = {left[0], left[1], left[2], left[3], right_low, right_high};
  const unsigned(*const lanes)[8] = fb_show(own);
  const int g = lane_number() / 4, t = lane_number() % 4;
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 4; ++i) {
      const int row = i / 2, column = 2 * t + i % 2, from = k % 8 / 2;
      sum[i] += half_of_pair<T>(lanes[g * 4 + from][row + k / 8 * 2], k % 2) *
                half_of_pair<T>(lanes[column * 4 + from][4 + k / 8], k % 2);
    }
  fb_shown();
}

template <bool across>
inline void load_matrices(unsigned (&to)[4], const void* row) {
  unsigned own[2];
  __builtin_memcpy(own, &row, sizeof row);
  const unsigned(*const lanes)[8] = fb_show(own);
  const int g = lane_number() / 4, t = lane_number() % 4;
  for (int m = 0; m < 4; ++m) {
    unsigned short pair[2];
    for (int e = 0; e < 2; ++e) {
      const int r = across ? 2 * t + e : g, c = across ? g : 2 * t + e;
      const unsigned short* from;
      __builtin_memcpy(&from, lanes[m * 8 + r], sizeof from);
      pair[e] = from[c];
    }
    __builtin_memcpy(&to[m], pair, sizeof pair);
  }
  fb_shown();
}

inline void copy_later(void* to, const void* from, bool is_there) {
  if (is_there)
    __builtin_memcpy(to, from, 16);
  else
    __builtin_memset(to, 0, 16);
}
inline void end_copies() {}
template <int pending>
inline void wait_for_copies() {}
inline float exp2_of(float x) { return __builtin_exp2f(x); }
inline float larger_of(float a, float b) { return __builtin_fmaxf(a, b); }

#else

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

template <class T>
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&left)[4], unsigned right_low,
                                    unsigned right_high) {
  if constexpr (kIsSame<T, Half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_low), "r"(right_high));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_low), "r"(right_high));
}

// Four matrices of 8 x 8 elements in shared memory: lane i gives the address of row i % 8 of matrix
// i / 8, and gets two elements of each: of row g, or of column g if `across`.
template <bool across>
__device__ inline void load_matrices(unsigned (&to)[4], const void* row) {
  if constexpr (across)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
}

// 16 bytes into shared memory, or zeros, while the thread goes on. Copies are waited for in groups:
// all but so many that were ended last.
__device__ inline void copy_later(void* to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(is_there ? 16 : 0)
               : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

__device__ inline float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float larger_of(float a, float b) { return fmaxf(a, b); }

#endif

}  // namespace fb::device
