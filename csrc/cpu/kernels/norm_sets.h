// Statistics of sets of elements, and how normalising many sets is divided among threads.
#pragma once

#include <cmath>

#include "cpu/kernels/float_loops.h"
#include "cpu/kernels/moments.h"
#include "cpu/norm.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

// Mean and squared deviations in one pass. Deviations are taken from the mean of the first elements
// of a block, so that no digits cancel when they are squared.
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

// A set is made of parts: collect(set, part) reads the elements of a part, finish(set) sums up what
// was collected, apply(set, part) writes the results. If there are enough sets for all threads,
// each set is finished while it is in the cache. Either way the same numbers are joined in the same
// order.
template <class Collect, class Finish, class Apply>
void over_sets(int64_t sets, int64_t parts, int64_t part_size, Collect collect, Finish finish,
               Apply apply) {
  const int64_t grain = kGrain / (part_size + 1);
  if (sets >= 2 * num_threads()) {
    parallel_for(sets, grain / parts + 1, [&](int64_t begin, int64_t end) {
      for (int64_t set = begin; set < end; ++set) {
        for (int64_t part = 0; part < parts; ++part) collect(set, part);
        finish(set);
        for (int64_t part = 0; part < parts; ++part) apply(set, part);
      }
    });
    return;
  }
  const auto each = [&](auto& work) {
    parallel_for(sets * parts, grain + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) work(i / parts, i % parts);
    });
  };
  each(collect);
  for (int64_t set = 0; set < sets; ++set) finish(set);
  each(apply);
}

// The coefficients of a set's gradient: out = g * scale + (x - mean) * slope + shift, where scale
// is rstd * weight.
template <class A>
struct SetGradient {
  A mean, rstd, slope, shift;

  // `total` and `moment` are the sums of weight * g and of weight * g * (x - mean).
  SetGradient(A mean, A rstd, bool given, double total, double moment, int64_t size)
      : mean(mean), rstd(rstd), slope(0), shift(0) {
    if (given) return;
    const double r = static_cast<double>(rstd);
    slope = static_cast<A>(-r * r * r * moment / static_cast<double>(size));
    shift = static_cast<A>(-r * total / static_cast<double>(size));
  }
};

// Writes the statistics that follow from the moments of a set.
template <class A>
FB_FN void write_statistics(const NormForward& numbers, int64_t set, const Moments& all) {
  const double variance = all.m2 / static_cast<double>(all.n);
  static_cast<A*>(numbers.mean)[set] = static_cast<A>(all.mean);
  static_cast<A*>(numbers.rstd)[set] = static_cast<A>(1 / std::sqrt(variance + numbers.eps));
  numbers.variance[set] = variance;
}

}  // namespace
}  // namespace fb::cpu::FB_ISA
