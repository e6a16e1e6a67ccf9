// What the normalisation kernels are made of: loops over vectors of any element type, with the
// elements that are left one by one, and moments of a run.
#pragma once

#include <type_traits>

#include "cpu/kernels/moments.h"
#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

// What elements are computed with: float for the 16-bit floats.
template <class T>
using AccOf = std::conditional_t<__is_same(T, double), double, float>;

template <int W>
using Width = std::integral_constant<int, W>;

// Stores W numbers as elements.
template <int W, class T, class V>
FB_FN void put(T* p, const V& value) {
  if constexpr (W == 1) {
    *p = convert<T>(value);
  } else if constexpr (kIsFloat<T>) {
    store(p, value);
  } else {
    alignas(kVectorBytes) float numbers[W];
    store(numbers, value);
    narrow(numbers, p, W);
  }
}

// Calls step(Width<W>, i) for the elements i to i + W - 1.
template <class A, class Step>
FB_FN void for_vectors(int64_t n, Step step) {
  constexpr int L = kLanes<A>;
  int64_t i = 0;
  for (; i + L <= n; i += L) step(Width<L>{}, i);
  for (; i < n; ++i) step(Width<1>{}, i);
}

struct Plus {
  template <class V>
  FB_FN V operator()(const V& a, const V& b) const {
    return a + b;
  }
};

// Adds K sums over n elements to `total`: step(Width<W>, i, sums) adds the terms of W elements.
// Blocks of floats are joined in double, as accurate as a pairwise sum.
template <class A, int K, class Step>
FB_FN void add_up(int64_t n, double (&total)[K], Step step) {
  constexpr int L = kLanes<A>;
  constexpr int64_t kSumBlock = 4096;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = begin + kSumBlock < n ? begin + kSumBlock : n;
    Vec<A> a[K] = {}, b[K] = {}, c[K] = {}, d[K] = {};
    A rest[K] = {};
    int64_t i = begin;
    for (; i + 4 * L <= end; i += 4 * L) {
      step(Width<L>{}, i, a);
      step(Width<L>{}, i + L, b);
      step(Width<L>{}, i + 2 * L, c);
      step(Width<L>{}, i + 3 * L, d);
    }
    for (; i + L <= end; i += L) step(Width<L>{}, i, a);
    for (; i < end; ++i) step(Width<1>{}, i, rest);
    for (int k = 0; k < K; ++k)
      total[k] +=
          static_cast<double>(rest[k] + fold_lanes<A, L>((a[k] + b[k]) + (c[k] + d[k]), Plus{}));
  }
}

// Mean and squared deviations in one reading. Deviations are taken from the mean of the first
// elements of a block, so that no digits cancel when they are squared.
template <class T>
FB_FN Moments moments_of(const T* x, int64_t n) {
  using A = AccOf<T>;
  constexpr int L = kLanes<A>;
  constexpr int64_t kMomentBlock = 4096;
  Moments all{0, 0, 0};
  for (int64_t begin = 0; begin < n; begin += kMomentBlock) {
    const int64_t count = begin + kMomentBlock < n ? kMomentBlock : n - begin;
    const T* const block = x + begin;
    const A centre = count < L ? load<A, 1>(block)
                               : fold_lanes<A, L>(load<A, L>(block), Plus{}) / static_cast<A>(L);
    double sums[2] = {};
    add_up<A>(count, sums, [&](auto width, int64_t i, auto& s) {
      const auto deviation = load<A, decltype(width)::value>(block + i) - centre;
      s[0] += deviation;
      s[1] += deviation * deviation;
    });
    all.join_block(static_cast<double>(centre), sums[0], sums[1], count);
  }
  return all;
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
