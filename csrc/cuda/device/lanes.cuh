// Threads of a block that share an item of work, and how they join what each of them has found.
#pragma once

#include "cuda/device/base.cuh"
#include "scalar/arith.h"

namespace fb::device {

// A block has `lanes` threads, a power of two, for each of its items. With `columns` neighbouring
// threads have neighbouring items, else they are lanes of one item.
struct LanePlace {
  int lane, lanes, local, per_block;
  long long item;

  __device__ LanePlace(int lanes, bool columns, long long block) : lanes(lanes) {
    const int thread = static_cast<int>(threadIdx.x);
    per_block = kThreads / lanes;
    local = columns ? thread % per_block : thread / lanes;
    lane = columns ? thread / per_block : thread % lanes;
    item = block * per_block + local;
  }
  __device__ LanePlace(int lanes, bool columns) : LanePlace(lanes, columns, blockIdx.x) {}
};

// Joins what the lanes of each item have, in a fixed order; every lane gets the result. All threads
// of the block must call it.
template <class V, class Join>
__device__ inline V join_lanes(const LanePlace& place, V own, Join join) {
  alignas(16) __shared__ unsigned char room[kThreads * sizeof(V)];
  V* const shared = reinterpret_cast<V*>(room);
  __syncthreads();
  shared[place.lane * place.per_block + place.local] = own;
  for (int half = place.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (place.lane < half) {
      V& mine = shared[place.lane * place.per_block + place.local];
      mine = join(mine, shared[(place.lane + half) * place.per_block + place.local]);
    }
  }
  __syncthreads();
  return shared[place.local];
}

template <class V>
struct Larger {
  __device__ V operator()(V a, V b) const { return scalar::maximum(a, b); }
};
template <class V>
struct Sum {
  __device__ V operator()(V a, V b) const { return a + b; }
};

// The same for numbers where the lanes of an item are neighbours: mostly without shared memory.
template <class V, class Join>
__device__ inline V join_neighbours(const LanePlace& place, V own, Join join) {
  for (int half = (place.lanes < 32 ? place.lanes : 32) / 2; half > 0; half /= 2)
    own = join(own, __shfl_xor_sync(~0u, own, half));
  if (place.lanes <= 32) return own;
  __shared__ V shared[kThreads / 32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = own;
  __syncthreads();
  const int warps = place.lanes / 32, first = place.local * warps;
  V all = shared[first];
  for (int warp = 1; warp < warps; ++warp) all = join(all, shared[first + warp]);
  return all;
}
template <class V>
__device__ inline V sum_lanes(const LanePlace& place, V own) {
  return join_neighbours(place, own, Sum<V>());
}

}  // namespace fb::device
