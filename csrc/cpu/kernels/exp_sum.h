// Sums of exponentials relative to a maximum: what softmax and cross entropy are made of.
#pragma once

#include "cpu/kernels/exp.h"
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
  const int64_t whole = n - n % L;
  double total = 0;
  for (int64_t begin = 0; begin < whole; begin += kBlock) {
    const int64_t end = min64(whole, begin + kBlock);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; ++i) {
      const T e = exp_nonpositive(x[i] - shift);
      if constexpr (keep) y[i] = e;
      sum += e;
    }
    total += static_cast<double>(sum);
  }
  if (whole == n) return total;
  // A padded vector instead of single exponentials, which would cost as much as the rest of a
  // short row.
  alignas(64) T tail[L];
  store(tail, load_part(x + whole, n - whole, lowest<T>()));
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int l = 0; l < L; ++l) {
    tail[l] = exp_nonpositive(tail[l] - shift);
    sum += tail[l];
  }
  if constexpr (keep) store_part(y + whole, load<T, L>(tail), n - whole);
  return total + static_cast<double>(sum);
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
