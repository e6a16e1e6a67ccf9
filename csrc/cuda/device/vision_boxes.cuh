// Which of many boxes to keep.
//
// Boxes are ranked by counting the better ones of each. Then every pair is compared, which gives a
// bit for each worse box that a box overlaps, and one block goes through the ranks: it decides 64
// boxes at a time, as only those can still take each other out.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/vision_args.h"

namespace fb::device {

// NaN is the best score; of equals the first is better.
template <class T>
__device__ inline bool is_better(T a, long long i, T b, long long j) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan | b_nan) return a_nan & (!b_nan | (i < j));
  return a > b || (a == b && i < j);
}

template <class T>
__device__ inline void rank_boxes(const BoxArguments& args) {
  __shared__ T tile[kThreads];
  const auto* scores = static_cast<const T*>(args.scores);
  const long long own = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  const T score = own < args.count ? scores[own] : T(0);
  long long rank = 0;
  for (long long first = 0; first < args.count; first += kThreads) {
    const long long mine = first + threadIdx.x;
    __syncthreads();
    if (mine < args.count) tile[threadIdx.x] = scores[mine];
    __syncthreads();
    const int there =
        static_cast<int>(args.count - first < kThreads ? args.count - first : kThreads);
    for (int i = 0; i < there; ++i) rank += is_better(tile[i], first + i, score, own);
  }
  if (own < args.count) args.order[rank] = own;
}

template <class T>
struct Box {
  T left, top, right, bottom;

  __device__ T area() const { return (right - left) * (bottom - top); }
};

template <class T>
__device__ inline Box<T> box_of_rank(const BoxArguments& args, long long rank) {
  const T* at = static_cast<const T*>(args.boxes) + 4 * args.order[rank];
  return {at[0], at[1], at[2], at[3]};
}

template <class T>
__device__ inline T larger_of(T a, T b) {
  return a < b ? b : a;
}
template <class T>
__device__ inline T smaller_of(T a, T b) {
  return b < a ? b : a;
}

template <class T>
__device__ inline bool overlaps(const Box<T>& a, const Box<T>& b, T limit) {
  const T wide = larger_of(T(0), smaller_of(a.right, b.right) - larger_of(a.left, b.left));
  const T high = larger_of(T(0), smaller_of(a.bottom, b.bottom) - larger_of(a.top, b.top));
  const T both = wide * high;
  return both / (a.area() + b.area() - both) > limit;
}

// A block has 256 ranks and walks over words, whose boxes it keeps in shared memory.
template <class T>
__device__ inline void compare_boxes(const BoxArguments& args) {
  __shared__ Box<T> tile[kBoxesOfWord];
  const long long first = static_cast<long long>(blockIdx.x) * kThreads;
  const long long own = first + threadIdx.x;
  const bool inside = own < args.count;
  const Box<T> box = inside ? box_of_rank<T>(args, own) : Box<T>{};
  const T limit = static_cast<T>(args.limit);
  // Words of better boxes alone are never read.
  for (long long word = first / kBoxesOfWord + blockIdx.y; word < args.words; word += gridDim.y) {
    const long long begin = word * kBoxesOfWord;
    const int there =
        static_cast<int>(args.count - begin < kBoxesOfWord ? args.count - begin : kBoxesOfWord);
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < there)
      tile[threadIdx.x] = box_of_rank<T>(args, begin + threadIdx.x);
    __syncthreads();
    unsigned long long bits = 0;
    for (int i = 0; i < there && inside; ++i)
      if (begin + i > own && overlaps(box, tile[i], limit)) bits |= 1ull << i;
    if (inside) args.covers[own * args.words + word] = bits;
  }
}

// One block.
template <class T>
__device__ inline void sweep_boxes(const BoxArguments& args) {
  __shared__ unsigned long long diagonal[kBoxesOfWord];
  __shared__ unsigned long long chosen;
  __shared__ long long total;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) total = 0;
  for (long long word = thread; word < args.words; word += kThreads) args.gone[word] = 0;
  for (long long word = 0; word < args.words; ++word) {
    const long long begin = word * kBoxesOfWord;
    const int there =
        static_cast<int>(args.count - begin < kBoxesOfWord ? args.count - begin : kBoxesOfWord);
    if (thread < there) diagonal[thread] = args.covers[(begin + thread) * args.words + word];
    __syncthreads();
    if (thread == 0) {
      unsigned long long gone = args.gone[word], keep = 0;
      for (int i = 0; i < there; ++i) {
        if (gone >> i & 1) continue;
        keep |= 1ull << i;
        gone |= diagonal[i];
      }
      chosen = keep;
    }
    __syncthreads();
    const unsigned long long keep = chosen;
    if (thread < there && (keep >> thread & 1)) {
      const unsigned long long before = keep & ((1ull << thread) - 1);
      args.kept[1 + total + __popcll(before)] = args.order[begin + thread];
    }
    for (long long other = word + 1 + thread; other < args.words; other += kThreads) {
      unsigned long long gone = args.gone[other];
      for (int i = 0; i < there; ++i)
        if (keep >> i & 1) gone |= args.covers[(begin + i) * args.words + other];
      args.gone[other] = gone;
    }
    __syncthreads();
    if (thread == 0) total += __popcll(keep);
  }
  __syncthreads();
  if (thread == 0) args.kept[0] = total;
}

}  // namespace fb::device
