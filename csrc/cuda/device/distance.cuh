// Distances between rows. Elements are float or double.
#pragma once

#include "cuda/device/distance_args.h"
#include "cuda/device/lanes.cuh"

namespace fb::device {

template <class T>
__device__ inline void pair_distances(const PairArguments& args) {
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.rows;
  const auto* x = static_cast<const T*>(args.first) + place.item * args.columns;
  const auto* y = static_cast<const T*>(args.second) + place.item * args.columns;
  const T eps = static_cast<T>(args.eps);
  T sum = T(0);
  if (inside)
    for (long long c = place.lane; c < args.columns; c += place.lanes) {
      const T difference = (x[c] - y[c]) + eps;
      sum += difference * difference;
    }
  sum = sum_lanes(place, sum);
  if (inside && place.lane == 0) static_cast<T*>(args.out)[place.item] = math::sqrt(sum);
}

template <class T>
__device__ inline void pair_gradient(const PairArguments& args) {
  const LanePlace place(args.lanes, false);
  if (place.item >= args.rows) return;
  const long long first = place.item * args.columns;
  const auto* x = static_cast<const T*>(args.first) + first;
  const auto* y = static_cast<const T*>(args.second) + first;
  auto* out = static_cast<T*>(args.out) + first;
  const T distance = static_cast<const T*>(args.distances)[place.item];
  const T eps = static_cast<T>(args.eps);
  const T scale =
      distance == T(0) ? T(0) : static_cast<const T*>(args.gradients)[place.item] / distance;
  for (long long c = place.lane; c < args.columns; c += place.lanes)
    out[c] = scale * ((x[c] - y[c]) + eps);
}

// How differences are added up, and what their sum is turned into.
struct CountNorm {
  template <class T>
  static __device__ T add(T sum, T difference, T) {
    return sum + (difference != T(0) ? T(1) : T(0));
  }
  template <class T>
  static __device__ T finish(T sum, T) {
    return sum;
  }
};
struct ManhattanNorm : CountNorm {
  template <class T>
  static __device__ T add(T sum, T difference, T) {
    return sum + math::abs(difference);
  }
};
struct EuclideanNorm {
  template <class T>
  static __device__ T add(T sum, T difference, T) {
    return sum + difference * difference;
  }
  template <class T>
  static __device__ T finish(T sum, T) {
    return math::sqrt(sum);
  }
};
struct LargestNorm : CountNorm {
  template <class T>
  static __device__ T add(T largest, T difference, T) {
    return scalar::maximum(largest, math::abs(difference));
  }
};
struct GeneralNorm {
  template <class T>
  static __device__ T add(T sum, T difference, T p) {
    return sum + math::pow(math::abs(difference), p);
  }
  template <class T>
  static __device__ T finish(T sum, T p) {
    return math::pow(sum, T(1) / p);
  }
};

template <class T, class Norm>
__device__ inline void all_distances(const AllPairsArguments& args) {
  constexpr int kSide = 16;
  static_assert(kSide * kSide == kThreads);
  __shared__ T of_a[kSide][kSide + 1], of_b[kSide][kSide + 1];
  const long long across = (args.columns + kSide - 1) / kSide;
  const long long down = (args.rows + kSide - 1) / kSide;
  const long long square = blockIdx.x / across, image = square / down;
  const int i = static_cast<int>(threadIdx.x) / kSide, j = static_cast<int>(threadIdx.x) % kSide;
  const long long first_row = (square - image * down) * kSide;
  const long long first_column = (blockIdx.x - square * across) * kSide;
  const auto* a = static_cast<const T*>(args.a) + image * args.rows * args.depth;
  const auto* b = static_cast<const T*>(args.b) + image * args.columns * args.depth;
  const T p = static_cast<T>(args.p);
  T sum = T(0);
  for (long long begin = 0; begin < args.depth; begin += kSide) {
    // Beyond the last element both are 0, which no norm counts.
    const bool deep = begin + j < args.depth;
    of_a[i][j] =
        deep && first_row + i < args.rows ? a[(first_row + i) * args.depth + begin + j] : T(0);
    of_b[i][j] = deep && first_column + i < args.columns
                     ? b[(first_column + i) * args.depth + begin + j]
                     : T(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSide; ++k) sum = Norm::add(sum, of_a[i][k] - of_b[j][k], p);
    __syncthreads();
  }
  const long long row = first_row + i, column = first_column + j;
  if (row < args.rows && column < args.columns)
    static_cast<T*>(args.out)[(image * args.rows + row) * args.columns + column] =
        Norm::finish(sum, p);
}

}  // namespace fb::device
