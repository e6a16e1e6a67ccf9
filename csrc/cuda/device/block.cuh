// What the threads of a block do together.
#pragma once

#include "cuda/device/base.cuh"

namespace fb::device {

// Joins a number of each thread of the block, in a fixed order; every thread gets the result.
template <class V, class Join>
__device__ inline V join_block(V own, Join join) {
  __shared__ V shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = own;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  __syncthreads();
  return shared[0];
}

}  // namespace fb::device
