// Loops over vectors of any floating element type, with the remaining elements one by one.
#pragma once

#include <type_traits>

#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

// The type that elements are computed in: float for the 16-bit floats.
template <class T>
using AccOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <int W>
using Width = std::integral_constant<int, W>;

// Stores W numbers as elements.
template <int W, class T, class V>
FB_FN void put(T* p, const V& value) {
  if constexpr (W == 1) {
    *p = convert<T>(value);
  } else if constexpr (kIsFloat<T>) {
    store(p, value);
  } else if constexpr (__is_same(T, BFloat16)) {
    // BFloat16::from_float of all lanes at once: GCC 12 does not vectorise the loop below.
    using Bits = Vec<unsigned, W>;
    const Vec<float, W> number = value;
    const Bits bits = (Bits)number;
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Bits chosen = number != number ? Bits{} + 0x7fc0u : rounded;
    store(p, __builtin_convertvector(chosen, Vec<unsigned short, W>));
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

// Calls f(tag of the element type).
template <class F>
void with_floating(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat16: return f(TypeTag<Half>{});
    case DType::kBFloat16: return f(TypeTag<BFloat16>{});
    default: visit_floating(dtype, f);
  }
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
