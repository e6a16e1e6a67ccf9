// Softmax, its logarithm and the logarithm of sums of exponentials.
#pragma once

#include "cuda/device/reduce.cuh"
#include "cuda/device/softmax_args.h"

namespace fb::device {

// As kernel::SoftmaxOp.
enum class SoftmaxOp : int { kSoftmax, kLogSoftmax, kLogSumExp };

// The threads of a block that share a row, and what they join.
struct RowPlace {
  int lane, lanes, local, per_block;
  long long row;

  __device__ explicit RowPlace(const SoftmaxArguments& args) : lanes(args.lanes) {
    const int thread = static_cast<int>(threadIdx.x);
    per_block = kThreads / lanes;
    local = args.columns ? thread % per_block : thread / lanes;
    lane = args.columns ? thread / per_block : thread % lanes;
    row = static_cast<long long>(blockIdx.x) * per_block + local;
  }
};

template <class V, class Join>
__device__ inline V join_row(const RowPlace& place, V own, Join join) {
  __shared__ V shared[kThreads];
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

template <class T, SoftmaxOp op>
__device__ inline void softmax_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const RowPlace place(args);
  const bool inside = place.row < args.outer * args.inner;
  const long long base =
      inside ? place.row / args.inner * args.n * args.inner + place.row % args.inner : 0;
  const auto* in = static_cast<const T*>(args.in) + base;
  V largest = -math::infinity<V>();
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes)
      largest = scalar::maximum(largest, convert<V>(in[i * args.inner]));
  largest = join_row(place, largest, Larger<V>());
  // Of a row of infinities: the differences below are then what they should be.
  const V shift = math::abs(largest) == math::infinity<V>() && op == SoftmaxOp::kLogSumExp
                      ? V(0)
                      : largest;
  V total = V(0);
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes)
      total += math::exp(convert<V>(in[i * args.inner]) - shift);
  total = join_row(place, total, Sum<V>());
  if (!inside) return;
  auto* out = static_cast<T*>(args.out);
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (place.lane == 0) out[place.row] = convert<T>(math::log(total) + shift);
  } else {
    const V log_total = math::log(total);
    for (long long i = place.lane; i < args.n; i += place.lanes) {
      const V x = convert<V>(in[i * args.inner]) - shift;
      out[base + i * args.inner] =
          convert<T>(op == SoftmaxOp::kSoftmax ? math::exp(x) / total : x - log_total);
    }
  }
}

template <class T, SoftmaxOp op>
__device__ inline void softmax_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const RowPlace place(args);
  const bool inside = place.row < args.outer * args.inner;
  const long long base =
      inside ? place.row / args.inner * args.n * args.inner + place.row % args.inner : 0;
  const auto* result = static_cast<const T*>(args.in) + base;
  const auto* gradient = static_cast<const T*>(args.gradient) + base;
  V total = V(0);
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes) {
      const V g = convert<V>(gradient[i * args.inner]);
      total += op == SoftmaxOp::kSoftmax ? g * convert<V>(result[i * args.inner]) : g;
    }
  total = join_row(place, total, Sum<V>());
  if (!inside) return;
  auto* out = static_cast<T*>(args.out) + base;
  for (long long i = place.lane; i < args.n; i += place.lanes) {
    const V g = convert<V>(gradient[i * args.inner]), y = convert<V>(result[i * args.inner]);
    out[i * args.inner] =
        convert<T>(op == SoftmaxOp::kSoftmax ? (g - total) * y : g - math::exp(y) * total);
  }
}

}  // namespace fb::device
