// How far float results are from the exact ones, in units in the last place: units() of units.py
// for a whole array.
#include "sweep.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace {

constexpr int kBlock = 1024;
constexpr double kInfinity = INFINITY;

// Infinite for a NaN or a sign of zero that only one of the two has.
double units(float actual, double exact) {
  const float nearest = static_cast<float>(exact);
  const bool both_nan = (actual != actual) & (exact != exact);
  const bool both_infinite = (std::fabs(nearest) == INFINITY) & (actual == nearest);
  const bool both_zero = (actual == 0) & (exact == 0);
  const bool same_sign =
      (std::bit_cast<uint64_t>(double(actual)) ^ std::bit_cast<uint64_t>(exact)) >> 63 == 0;
  const uint64_t exponent = std::bit_cast<uint64_t>(exact) >> 52 & 0x7ff;
  const uint64_t last = exponent < 1023 - 126 ? 1023 - 126 : exponent;
  const double units_per_one = std::bit_cast<double>((2 * 1023 + 23 - last) << 52);
  const double distance = std::fabs(actual - exact) * units_per_one;
  const double finite = distance == distance ? distance : kInfinity;
  return both_nan | both_infinite ? 0.0 : both_zero & !same_sign ? kInfinity : finite;
}

}  // namespace

// The largest error of `count` results and its place; 0 where the name has no reference here.
// Whatever is above the largest so far, `error`, is judged by the library's scalar function, as are
// inputs that are zero or not finite.
extern "C" int sweep(const char* name, const float* input, const float* actual, int count,
                     double* error, float* where) {
  const Function quick = find_quick(name), careful = find_careful(name);
  if (quick == nullptr) return 0;
  for (int start = 0; start < count; start += kBlock) {
    const float *x = input + start, *y = actual + start;
    const int size = count - start < kBlock ? count - start : kBlock;
    double exact[kBlock];
    bool suspect[kBlock];
    quick(x, exact, size);
    const double most = *error;
    int suspects = 0;
    for (int i = 0; i < size; ++i) {
      suspect[i] = (units(y[i], exact[i]) > most) | !(std::fabs(x[i]) < INFINITY) | (x[i] == 0);
      suspects |= suspect[i];
    }
    for (int i = 0; suspects != 0 && i < size; ++i) {
      if (!suspect[i]) continue;
      double value;
      careful(x + i, &value, 1);
      const double distance = units(y[i], value);
      if (distance > *error) *error = distance, *where = x[i];
    }
  }
  return 1;
}
