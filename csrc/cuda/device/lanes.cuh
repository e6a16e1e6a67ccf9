// Threads that share an item of work, and how they join what each of them has found.
#pragma once

#include "cuda/device/base.cuh"
#include "scalar/arith.h"

namespace fb::device {

// A block has `lanes` threads, a power of two, for each of its items. With `columns` neighbouring
// threads have neighbouring items, else they are lanes of one item.
struct LanePlace {
  int lane, lanes, local, per_block;
  long long item;
  bool columns;

  __device__ LanePlace(int lanes, bool columns, long long block) : lanes(lanes), columns(columns) {
    const int thread = static_cast<int>(threadIdx.x);
    const int shift = __popc(static_cast<unsigned>(lanes) - 1);  // divisions cost more
    per_block = kThreads >> shift;
    const int item_shift = __popc(static_cast<unsigned>(per_block) - 1);
    local = columns ? thread & (per_block - 1) : thread >> shift;
    lane = columns ? thread >> item_shift : thread & (lanes - 1);
    item = block * per_block + local;
  }
  __device__ LanePlace(int lanes, bool columns) : LanePlace(lanes, columns, blockIdx.x) {}
};

inline constexpr int kWarp = 32;

__device__ inline int lane_number() { return static_cast<int>(threadIdx.x) % kWarp; }
// Of the whole grid, whose blocks have kThreads threads.
__device__ inline long long warp_number() {
  return static_cast<long long>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
}

template <class Word, int count>
struct LaneWords {
  Word at[count];
};

// What another lane of the warp has, of any type that is its bytes: by words, or by bytes where it
// is smaller.
template <class V>
__device__ inline V from_lane(const V& own, int mask) {
  const auto exchanged = [&]<class Word, int count>(LaneWords<Word, count> words) {
#pragma unroll
    for (int i = 0; i < count; ++i)
      words.at[i] =
          static_cast<Word>(__shfl_xor_sync(~0u, static_cast<unsigned>(words.at[i]), mask));
    return bit_cast<V>(words);
  };
  if constexpr (sizeof(V) % 4 == 0)
    return exchanged(bit_cast<LaneWords<unsigned, sizeof(V) / 4>>(own));
  else
    return exchanged(bit_cast<LaneWords<unsigned char, sizeof(V)>>(own));
}

// Joins what `lanes` neighbours of a warp have. All lanes of the warp must call it; all get the
// same, because the lower lane's value is the first one.
template <class V, class Join>
__device__ inline V join_warp(V own, Join join, int lanes = kWarp) {
  for (int mask = lanes / 2; mask > 0; mask /= 2) {
    const V other = from_lane(own, mask);
    const bool upper = threadIdx.x & mask;
    own = join(upper ? other : own, upper ? own : other);
  }
  return own;
}

// Joins what the lanes of each item have, in a fixed order; every lane gets the result. All threads
// of the block must call it. The lanes of an item are neighbours.
template <class V, class Join>
__device__ inline V join_neighbours(const LanePlace& place, V own, Join join) {
  own = join_warp(own, join, place.lanes < kWarp ? place.lanes : kWarp);
  if (place.lanes <= kWarp) return own;
  alignas(16) __shared__ unsigned char room[kThreads / kWarp * sizeof(V)];
  V* const shared = reinterpret_cast<V*>(room);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = own;
  __syncthreads();
  const int warps = place.lanes / kWarp, first = place.local * warps;
  V all = shared[first];
  for (int warp = 1; warp < warps; ++warp) all = join(all, shared[first + warp]);
  return all;
}

// The same for any lanes.
template <class V, class Join>
__device__ inline V join_lanes(const LanePlace& place, V own, Join join) {
  if (!place.columns) return join_neighbours(place, own, join);
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

// The same for all threads of the block.
template <class V, class Join>
__device__ inline V join_block(V own, Join join) {
  return join_neighbours(LanePlace(kThreads, false), own, join);
}

template <class V>
struct Larger {
  __device__ V operator()(V a, V b) const { return scalar::maximum(a, b); }
};
template <class V>
struct Sum {
  __device__ V operator()(V a, V b) const { return a + b; }
};

template <class V>
__device__ inline V sum_lanes(const LanePlace& place, V own) {
  return join_neighbours(place, own, Sum<V>());
}

}  // namespace fb::device
