// Ranges covered with vectors of the width that fits them.
#pragma once

#include <type_traits>

#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace {

template <int N>
using Lanes = std::integral_constant<int, N>;

// Blocks of N from `begin` on. The last one ends at `end` and may overlap the one before.
template <int N, class F>
FB_FN void cover(int64_t begin, int64_t end, F&& f) {
  int64_t i = begin;
  for (; i + N <= end; i += N) f(i, Lanes<N>{});
  if (i < end) f(end - N, Lanes<N>{});
}

// Calls f(i, Lanes<N>) for elements T that are computed in lanes of A. Where blocks overlap, f must
// do the same again.
template <class T, class A, class F>
FB_FN void in_blocks(int64_t begin, int64_t end, F&& f) {
  constexpr int L = kLanes<A>;
  constexpr bool kHalf = __is_same(T, Half);  // is loaded by eights
  const int64_t n = end - begin;
  if (n >= L) return cover<L>(begin, end, f);
  if constexpr (L > 8)
    if (n >= 8) return cover<8>(begin, end, f);
  if constexpr (L > 4 && !kHalf)
    if (n >= 4) return cover<4>(begin, end, f);
  for (int64_t i = begin; i < end; ++i) f(i, Lanes<1>{});
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
