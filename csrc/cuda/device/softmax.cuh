// Softmax, its logarithm and the logarithm of sums of exponentials.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/softmax_args.h"

namespace fb::device {

// As kernel::SoftmaxOp.
enum class SoftmaxOp : int { kSoftmax, kLogSoftmax, kLogSumExp };

// What is taken off a row before its exponentials. Of a row of infinities the differences are then
// what they should be.
template <SoftmaxOp op, class V>
__device__ inline V shift_of(V largest) {
  return op == SoftmaxOp::kLogSumExp && math::abs(largest) == math::infinity<V>() ? V(0) : largest;
}

// Rows of any length: their elements are read again for each of three passes.
template <class T, SoftmaxOp op>
__device__ inline void softmax_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, args.columns);
  const bool inside = place.item < args.outer * args.inner;
  const long long base =
      inside ? place.item / args.inner * args.n * args.inner + place.item % args.inner : 0;
  const auto* in = static_cast<const T*>(args.in) + base;
  V largest = -math::infinity<V>();
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes)
      largest = scalar::maximum(largest, convert<V>(in[i * args.inner]));
  const V shift = shift_of<op>(join_lanes(place, largest, Larger<V>()));
  V total = V(0);
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes)
      total += math::exp(convert<V>(in[i * args.inner]) - shift);
  total = join_lanes(place, total, Sum<V>());
  if (!inside) return;
  auto* out = static_cast<T*>(args.out);
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (place.lane == 0) out[place.item] = convert<T>(math::log(total) + shift);
  } else {
    const V log_total = math::log(total);
    for (long long i = place.lane; i < args.n; i += place.lanes) {
      const V x = convert<V>(in[i * args.inner]) - shift;
      out[base + i * args.inner] =
          convert<T>(op == SoftmaxOp::kSoftmax ? math::exp(x) / total : x - log_total);
    }
  }
}

// Contiguous rows of at most `lanes * kept` elements, which stay in registers.
template <class T, SoftmaxOp op, int kept>
__device__ inline void softmax_kept_rows(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.outer;
  const long long base = inside ? place.item * args.n : 0;
  const auto* in = static_cast<const T*>(args.in) + base;
  const int n = inside ? static_cast<int>(args.n) : 0;
  V x[kept];
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int i = place.lane + k * place.lanes;
    x[k] = i < n ? convert<V>(in[i]) : -math::infinity<V>();
  }
  V largest = x[0];
#pragma unroll
  for (int k = 1; k < kept; ++k) largest = scalar::maximum(largest, x[k]);
  const V shift = shift_of<op>(join_neighbours(place, largest, Larger<V>()));
  V total = V(0);
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    x[k] -= shift;
    const V power = place.lane + k * place.lanes < n ? math::exp(x[k]) : V(0);
    total += power;
    if constexpr (op == SoftmaxOp::kSoftmax) x[k] = power;
  }
  total = join_neighbours(place, total, Sum<V>());
  auto* out = static_cast<T*>(args.out);
  if constexpr (op == SoftmaxOp::kLogSumExp) {
    if (inside && place.lane == 0) out[place.item] = convert<T>(math::log(total) + shift);
  } else {
    const V log_total = math::log(total);
#pragma unroll
    for (int k = 0; k < kept; ++k) {
      const int i = place.lane + k * place.lanes;
      if (i < n)
        out[base + i] = convert<T>(op == SoftmaxOp::kSoftmax ? x[k] / total : x[k] - log_total);
    }
  }
}

template <class T, SoftmaxOp op>
__device__ inline void softmax_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, args.columns);
  const bool inside = place.item < args.outer * args.inner;
  const long long base =
      inside ? place.item / args.inner * args.n * args.inner + place.item % args.inner : 0;
  const auto* result = static_cast<const T*>(args.in) + base;
  const auto* gradient = static_cast<const T*>(args.gradient) + base;
  V total = V(0);
  if (inside)
    for (long long i = place.lane; i < args.n; i += place.lanes) {
      const V g = convert<V>(gradient[i * args.inner]);
      total += op == SoftmaxOp::kSoftmax ? g * convert<V>(result[i * args.inner]) : g;
    }
  total = join_lanes(place, total, Sum<V>());
  if (!inside) return;
  auto* out = static_cast<T*>(args.out) + base;
  for (long long i = place.lane; i < args.n; i += place.lanes) {
    const V g = convert<V>(gradient[i * args.inner]), y = convert<V>(result[i * args.inner]);
    out[i * args.inner] =
        convert<T>(op == SoftmaxOp::kSoftmax ? (g - total) * y : g - math::exp(y) * total);
  }
}

template <class T, SoftmaxOp op, int kept>
__device__ inline void softmax_kept_gradients(const SoftmaxArguments& args) {
  using V = Wide<T>;
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.outer;
  const long long base = inside ? place.item * args.n : 0;
  const auto* result = static_cast<const T*>(args.in) + base;
  const auto* gradient = static_cast<const T*>(args.gradient) + base;
  const int n = inside ? static_cast<int>(args.n) : 0;
  V y[kept], g[kept], total = V(0);
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int i = place.lane + k * place.lanes;
    y[k] = i < n ? convert<V>(result[i]) : V(0);
    g[k] = i < n ? convert<V>(gradient[i]) : V(0);
  }
#pragma unroll
  for (int k = 0; k < kept; ++k) total += op == SoftmaxOp::kSoftmax ? g[k] * y[k] : g[k];
  total = join_neighbours(place, total, Sum<V>());
  auto* out = static_cast<T*>(args.out) + base;
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int i = place.lane + k * place.lanes;
    if (i < n)
      out[i] = convert<T>(op == SoftmaxOp::kSoftmax ? (g[k] - total) * y[k]
                                                    : g[k] - math::exp(y[k]) * total);
  }
}

}  // namespace fb::device
