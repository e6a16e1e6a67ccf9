// Mean and squared deviations of a set of numbers, joined from those of its parts.
#pragma once

#include <cstdint>

#include "scalar/types.h"

namespace fb::cpu::FB_ISA {
namespace {

struct Moments {
  double mean;
  double m2;  // sum of squared deviations from the mean
  int64_t n;

  // Chan's update; `weight` is the share of the later part in the whole.
  FB_FN void join(double later_mean, double later_m2, int64_t later_n, double weight) {
    const double delta = later_mean - mean;
    mean += delta * weight;
    m2 += later_m2 + delta * delta * weight * static_cast<double>(n);
    n += later_n;
  }

  FB_FN void join(const Moments& later) {
    if (later.n == 0) return;
    join(later.mean, later.m2, later.n,
         static_cast<double>(later.n) / static_cast<double>(n + later.n));
  }

  // A part given by the sum and the squares of its deviations from `centre`.
  FB_FN void join_block(double centre, double sum, double squares, int64_t count) {
    const double drift = sum / static_cast<double>(count);
    const double deviations = squares - drift * sum;
    join({centre + drift, deviations < 0 ? 0 : deviations, count});
  }
};

}  // namespace
}  // namespace fb::cpu::FB_ISA
