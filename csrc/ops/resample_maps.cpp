// The weights of interpolation.
#include "ops/resample_maps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fb::ops {
namespace {

using kernel::AxisMap;
using kernel::AxisMapMaker;

// The distance between outputs, in inputs.
template <class T>
T step_of(const AxisResampling& axis) {
  if (axis.align_corners)
    return axis.out > 1 ? static_cast<T>(axis.in - 1) / static_cast<T>(axis.out - 1) : T(0);
  if (axis.factor && *axis.factor > 0) return static_cast<T>(1.0 / *axis.factor);
  return static_cast<T>(axis.in) / static_cast<T>(axis.out);
}

template <class T>
T position_of(const AxisResampling& axis, T step, int64_t out) {
  if (axis.align_corners) return step * static_cast<T>(out);
  return step * (static_cast<T>(out) + T(0.5)) - T(0.5);
}

// The same size and twice the size are exact, whatever the factor was.
float nearest_step(const AxisResampling& axis) {
  if (axis.out == axis.in) return 1;
  if (axis.out == 2 * axis.in) return 0.5f;
  return step_of<float>(axis);
}

AxisMap nearest_map(const AxisResampling& axis, float step, float shift) {
  AxisMapMaker maker(axis.in);
  for (int64_t o = 0; o < axis.out; ++o) {
    const auto from = static_cast<int64_t>(std::floor((static_cast<float>(o) + shift) * step));
    maker.begin_row();
    maker.add(std::min(from, axis.in - 1), 1);
  }
  return maker.finish();
}

template <class T>
AxisMap linear_map(const AxisResampling& axis) {
  const T step = step_of<T>(axis);
  AxisMapMaker maker(axis.in);
  for (int64_t o = 0; o < axis.out; ++o) {
    const T position = std::max(position_of(axis, step, o), T(0));
    const int64_t low = std::min(static_cast<int64_t>(position), axis.in - 1);
    const T right = std::clamp(position - static_cast<T>(low), T(0), T(1));
    maker.begin_row();
    maker.add(low, T(1) - right);
    if (right != 0 && low + 1 < axis.in) maker.add(low + 1, right);
    if (right != 0 && low + 1 >= axis.in) maker.add(low, right);
  }
  return maker.finish();
}

// Keys' cubic, 1 at 0 and 0 at the other integers, with the slope `a` at 1.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

template <class T>
AxisMap cubic_map(const AxisResampling& axis) {
  const T step = step_of<T>(axis);
  AxisMapMaker maker(axis.in);
  for (int64_t o = 0; o < axis.out; ++o) {
    const T position = position_of(axis, step, o);
    const auto low = static_cast<int64_t>(std::floor(position));
    const T right = position - static_cast<T>(low);
    maker.begin_row();
    for (int64_t k = -1; k <= 2; ++k)
      maker.add(std::clamp<int64_t>(low + k, 0, axis.in - 1),
                cubic(static_cast<double>(right) - static_cast<double>(k), -0.75));
  }
  return maker.finish();
}

// --- kinds that average when they downscale

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }
double smooth_cubic(double x) { return cubic(x, -0.5); }
double lanczos(double x) {
  if (x <= -3 || x >= 3) return 0;
  if (x == 0) return 1;
  const double angle = std::numbers::pi * x;
  return 3 * std::sin(angle) * std::sin(angle / 3) / (angle * angle);
}

// Pillow's, which have no name in PyTorch.
double box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }
double hamming(double x) {
  x = std::abs(x);
  if (x == 0) return 1;
  if (x >= 1) return 0;
  const double angle = std::numbers::pi * x;
  return std::sin(angle) / angle * (0.54 + 0.46 * std::cos(angle));
}

struct Filter {
  double (*weight)(double);
  double reach;
};

// The filter is stretched over all inputs that fall onto an output.
template <class T>
AxisMap smooth_map(const AxisResampling& axis, const Filter& filter) {
  const T step = step_of<T>(axis);
  const T stretch = std::max(step, T(1));
  const T reach = static_cast<T>(filter.reach) * stretch;
  AxisMapMaker maker(axis.in);
  maker.reserve(axis.out, std::min(static_cast<int64_t>(2 * reach) + 2, axis.in));
  std::vector<double> weights;
  for (int64_t o = 0; o < axis.out; ++o) {
    const T centre = step * (static_cast<T>(o) + T(0.5));
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(centre - reach + T(0.5)), 0);
    const int64_t end = std::min(static_cast<int64_t>(centre + reach + T(0.5)), axis.in);
    weights.clear();
    double total = 0;
    for (int64_t i = begin; i < end; ++i) {
      const T distance = (static_cast<T>(i) - centre + T(0.5)) / stretch;
      weights.push_back(filter.weight(static_cast<double>(distance)));
      total += weights.back();
    }
    maker.begin_row();
    for (int64_t i = begin; i < end; ++i)
      maker.add(i, total != 0 ? weights[i - begin] / total : weights[i - begin]);
  }
  return maker.finish();
}

template <class T>
AxisMap map_in(const AxisResampling& axis) {
  if (axis.kind == "linear") return linear_map<T>(axis);
  if (axis.kind == "cubic") return cubic_map<T>(axis);
  if (axis.kind == "smooth-linear") return smooth_map<T>(axis, {triangle, 1});
  if (axis.kind == "smooth-cubic") return smooth_map<T>(axis, {smooth_cubic, 2});
  if (axis.kind == "box") return smooth_map<T>(axis, {box, 0.5});
  if (axis.kind == "hamming") return smooth_map<T>(axis, {hamming, 1});
  FB_CHECK_VALUE(axis.kind == "lanczos", "unknown kind of interpolation '", axis.kind, "'");
  return smooth_map<T>(axis, {lanczos, 3});
}

}  // namespace

AxisMap resampling_map(const AxisResampling& axis) {
  if (axis.kind == "nearest") return nearest_map(axis, nearest_step(axis), 0);
  if (axis.kind == "nearest-exact") return nearest_map(axis, step_of<float>(axis), 0.5f);
  if (axis.in == axis.out && (axis.kind == "linear" || axis.align_corners))
    return kernel::identity_map(axis.in);
  return axis.in_double ? map_in<double>(axis) : map_in<float>(axis);
}

}  // namespace fb::ops
