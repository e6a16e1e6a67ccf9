// Sums of exponentials, which softmax and losses of classes are made of.
#pragma once

#include "cuda/device/lanes.cuh"
#include "scalar/math.h"

namespace fb::device {

// The largest of some numbers, and the sum of their exponentials relative to it, from one pass over
// them: what was summed before a larger one came is scaled.
template <class V>
struct ExponentialSum {
  V largest = -math::infinity<V>(), total = V(0);

  // What exponents are relative to: of -inf they stay -inf.
  __device__ V shift() const { return largest == -math::infinity<V>() ? V(0) : largest; }

  template <int count>
  __device__ void add(const V (&x)[count]) {
    const V before = largest;
#pragma unroll
    for (int k = 0; k < count; ++k) largest = scalar::maximum(largest, x[k]);
    const V from = shift();
    total *= math::exp(before - from);
#pragma unroll
    for (int k = 0; k < count; ++k) total += math::exp(x[k] - from);
  }
};

template <class V>
struct JoinExponentials {
  __device__ ExponentialSum<V> operator()(const ExponentialSum<V>& a,
                                          const ExponentialSum<V>& b) const {
    ExponentialSum<V> both{scalar::maximum(a.largest, b.largest), V(0)};
    const V from = both.shift();
    both.total = a.total * math::exp(a.largest - from) + b.total * math::exp(b.largest - from);
    return both;
  }
};

inline constexpr int kPacksTogether = 4;  // that a thread has on their way

// Calls f(values) for the packs of a lane, some at once, with `missing` behind the last one. The
// elements of a pack are neighbours, packs are `step` elements apart.
template <int pack, class V, class T, class F>
__device__ inline void for_packs(const LanePlace& place, const T* x, long long packs,
                                 long long step, V missing, F f) {
  for (long long i = place.lane; i < packs; i += kPacksTogether * place.lanes) {
    V values[kPacksTogether * pack];
#pragma unroll
    for (int h = 0; h < kPacksTogether; ++h) {
      const long long j = i + h * place.lanes;
      V part[pack];
      if (j < packs) {
        load_pack<pack>(x + j * step, 0, part);
      } else {
#pragma unroll
        for (int p = 0; p < pack; ++p) part[p] = missing;
      }
#pragma unroll
      for (int p = 0; p < pack; ++p) values[h * pack + p] = part[p];
    }
    f(values);
  }
}

// The exponentials of a row, which all its lanes get.
template <int pack, class V, class T>
__device__ inline ExponentialSum<V> sum_exponentials(const LanePlace& place, bool inside,
                                                     const T* x, long long packs, long long step) {
  ExponentialSum<V> own;
  if (inside)
    for_packs<pack>(place, x, packs, step, -math::infinity<V>(),
                    [&](const auto& values) { own.add(values); });
  return join_lanes(place, own, JoinExponentials<V>());
}

}  // namespace fb::device
