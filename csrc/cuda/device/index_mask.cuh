// Positions where masks are true, the elements there, and positions by counts.
#pragma once

#include "cuda/device/index_mask_args.h"
#include "cuda/device/order.cuh"

namespace fb::device {

template <class T>
__device__ inline void mask_count(const MaskArguments& args) {
  count_flagged(args.parts, [&](long long i) { return args.mask[i] != 0; });
}

template <class T>
__device__ inline void mask_columns(const MaskArguments& args) {
  place_flagged(
      args.parts, [&](long long i) { return args.mask[i] != 0; },
      [&](long long i, bool is_true, long long before) {
        if (!is_true) return;
        for (int d = args.dims - 1; d > 0; --d) {
          const long long next = i / args.sizes[d];
          args.columns[d * args.count + before] = i - next * args.sizes[d];
          i = next;
        }
        args.columns[before] = i;
      });
}

template <class T>
__device__ inline void mask_elements(const MaskArguments& args) {
  place_flagged(
      args.parts, [&](long long i) { return args.mask[i] != 0; },
      [&](long long i, bool is_true, long long before) {
        if (is_true) static_cast<T*>(args.out)[before] = static_cast<const T*>(args.in)[i];
      });
}

template <class T>
__device__ inline void total_halves(const TotalArguments& args) {
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  unsigned long long low = 0, high = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < args.n;
       i += step) {
    const auto count = static_cast<unsigned long long>(args.counts[i]);
    low += count & 0xffffffffull;
    high += count >> 32;
  }
  low = scan_block(low).total;
  high = scan_block(high).total;
  if (threadIdx.x != 0) return;
  atomicAdd(&args.halves[0], low);
  atomicAdd(&args.halves[1], high);
}

template <class T>
__device__ inline void repeat_position(const RepeatArguments& args) {
  const long long total = args.starts[args.n];
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long k = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; k < total;
       k += step)
    args.out[k] = sorted_before(k, args.n, true, [&](long long i) { return args.starts[i]; }) - 1;
}

}  // namespace fb::device
