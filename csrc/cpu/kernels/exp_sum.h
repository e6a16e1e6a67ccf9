// Sums of exponentials relative to a maximum: what softmax and cross entropy are made of.
#pragma once

#include "cpu/kernels/exp.h"
#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/fold.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int64_t kSoftmaxChunk = 16384;  // elements read twice while cached; 64 KB of floats

// The largest element that is not NaN, in one instruction per step. A NaN need not be found here:
// it reaches the sum through its exponential, and so every result.
template <class T>
struct Largest : Extremum<T, true> {
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return b > a ? b : a;
  }
};

template <class T>
T max_of(const T* x, int64_t n) {
  T max = lowest<T>();
  Fold<T, Largest<T>>::block(x, n, 0, max);
  return max;
}

// The sum of exp(x - shift), shift being no less than any x; y keeps the terms if `keep`.
template <bool keep, class T>
double exp_sum(const T* x, [[maybe_unused]] T* y, int64_t n, T shift) {
  constexpr int L = kLanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = min64(n, begin + kBlock);
    Vec<T> sum{};
    int64_t i = begin;
    for (; i + L <= end; i += L) {
      const Vec<T> e = exp_nonpositive(load<T, L>(x + i) - shift);
      if constexpr (keep) store(y + i, e);
      sum += e;
    }
    if (i < end) {
      const Vec<T> e = exp_nonpositive(load_part(x + i, end - i, lowest<T>()) - shift);
      if constexpr (keep) store_part<T>(y + i, e, end - i);
      sum += e;
    }
    total += static_cast<double>(fold_lanes<T, L>(sum, Plus{}));
  }
  return total;
}

// Exponents are relative to this; if all scores are -inf, they stay -inf.
template <class T>
FB_FN T exponent_shift(T top) {
  return top == lowest<T>() ? T(0) : top;
}

// The largest score of a row, and the sum of exponentials relative to it.
template <class T>
T exp_sum_of_row(const T* x, int64_t n, T& largest) {
  T top = lowest<T>();
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kSoftmaxChunk) {
    const int64_t length = min64(kSoftmaxChunk, n - begin);
    const T max = max_of(x + begin, length);
    if (max > top) {
      if (total != 0) total *= math::exp(static_cast<double>(top) - static_cast<double>(max));
      top = max;
    }
    total += exp_sum<false, T>(x + begin, nullptr, length, exponent_shift(top));
  }
  largest = exponent_shift(top);
  return static_cast<T>(total);
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
