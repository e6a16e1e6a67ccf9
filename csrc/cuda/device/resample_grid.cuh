// Images sampled at given points. A thread finds the pixels that a point is made of, and their
// weights, and goes through channels with them.
#pragma once

#include "cuda/device/image.cuh"
#include "cuda/device/resample_grid_args.h"
#include "scalar/math.h"

namespace fb::device {

// As kernel::GridMode and kernel::GridPadding.
enum class GridMode : int { kBilinear, kNearest, kBicubic };
enum class GridPadding : int { kZeros, kBorder, kReflection };

// A position on the image, and its derivative with respect to the coordinate it comes from.
template <class T>
struct Position {
  T value, slope;
};

// Positions along one coordinate, as in cpu/kernels/resample_grid.cpp.
template <class T>
struct GridAxis {
  T size, low, span;
  GridPadding padding;

  __device__ GridAxis(const GridArguments& args, int a)
      : size(static_cast<T>(args.size[a])),
        low(args.align_corners ? T(0) : T(-0.5)),
        span(args.align_corners ? static_cast<T>(args.size[a] - 1) : static_cast<T>(args.size[a])),
        padding(static_cast<GridPadding>(args.padding)) {}

  // From a coordinate in [-1, 1].
  __device__ Position<T> at(T coordinate) const {
    const T half = span / 2;
    return {(coordinate + 1) * half + low, half};
  }
  // Moved into the image by the padding mode; a NaN becomes 0.
  __device__ Position<T> padded(Position<T> p) const {
    if (padding == GridPadding::kZeros) return p;
    if (padding == GridPadding::kReflection) p = reflected(p);
    const T last = size - 1;
    const T value = p.value > 0 ? p.value : T(0);
    const bool inside = p.value > 0 && p.value < last;
    return {value < last ? value : last, inside ? p.slope : T(0)};
  }
  __device__ bool holds(T index) const { return index >= 0 && index < size; }

 private:
  __device__ Position<T> reflected(Position<T> p) const {
    const T range = span > 0 ? span : T(1);  // one pixel: all clamp to it
    const T from_low = p.value - low;
    const T distance = from_low < 0 ? -from_low : from_low;
    const T reflections = math::floor(distance / range);
    const T rest = distance - reflections * range;
    const T odd = reflections - 2 * math::floor(reflections / 2);
    const T slope = from_low < 0 ? -p.slope : p.slope;
    return {(odd != 0 ? range - rest : rest) + low, odd != 0 ? -slope : slope};
  }
};

template <GridMode mode>
inline constexpr int kTaps = mode == GridMode::kNearest ? 1 : mode == GridMode::kBilinear ? 2 : 4;

// What a point takes along one coordinate.
template <class T, GridMode mode>
struct AxisTaps {
  long long pixel[kTaps<mode>];
  T weight[kTaps<mode>];  // 0 for a pixel outside of the image
  T slope[kTaps<mode>];   // the derivative of the weight with respect to the coordinate

  __device__ void set(int k, const GridAxis<T>& axis, T index, T w, T s) {
    const bool holds = axis.holds(index);
    pixel[k] = static_cast<long long>(holds ? index : T(0));
    weight[k] = holds ? w : T(0);
    slope[k] = holds ? s : T(0);
  }

  __device__ AxisTaps(const GridAxis<T>& axis, T coordinate) {
    if constexpr (mode == GridMode::kNearest) {
      set(0, axis, math::rint(axis.padded(axis.at(coordinate)).value), T(1), T(0));
    } else if constexpr (mode == GridMode::kBilinear) {
      const Position<T> position = axis.padded(axis.at(coordinate));
      const T first = math::floor(position.value), right = position.value - first;
      set(0, axis, first, 1 - right, -position.slope);
      set(1, axis, first + 1, right, position.slope);
    } else {
      set_cubic(axis, axis.at(coordinate));
    }
  }

 private:
  // Keys' cubic with the slope -0.75 at 1. Here it is the pixels that are padded.
  __device__ void set_cubic(const GridAxis<T>& axis, Position<T> position) {
    const T first = math::floor(position.value), t = position.value - first;
    const T w[4] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    const T s[4] = {far_slope(t + 1), near_slope(t), -near_slope(1 - t), -far_slope(2 - t)};
    for (int k = 0; k < 4; ++k) {
      const T at = math::rint(axis.padded({first + static_cast<T>(k - 1), T(0)}).value);
      set(k, axis, at, w[k], s[k] * position.slope);
    }
  }
  static __device__ T near(T x) { return (T(1.25) * x - T(2.25)) * x * x + 1; }
  static __device__ T far(T x) { return T(-0.75) * (((x - 5) * x + 8) * x - 4); }
  static __device__ T near_slope(T x) { return (T(3.75) * x - T(4.5)) * x; }
  static __device__ T far_slope(T x) { return T(-0.75) * ((3 * x - 10) * x + 8); }
};

template <class T, GridMode mode>
struct NoTaps {
  long long pixel[1] = {0};
  T weight[1] = {T(1)};
  T slope[1] = {T(0)};
};

// The pixels that a point is made of: visit(pixel, i, j, k), with the numbers of the taps.
template <class T, int rank, GridMode mode>
struct PointTaps {
  static constexpr int kOver = kTaps<mode>, kDeep = rank == 3 ? kTaps<mode> : 1;

  AxisTaps<T, mode> x, y;
  typename Choose<rank == 3, AxisTaps<T, mode>, NoTaps<T, mode>>::Type z;
  const long long* size;

  __device__ PointTaps(const GridArguments& args, const T* point)
      : x(GridAxis<T>(args, 0), point[0]),
        y(GridAxis<T>(args, 1), point[1]),
        z(deep(args, point)),
        size(args.size) {}

  template <class F>
  __device__ void each(F&& visit) const {
#pragma unroll
    for (int k = 0; k < kDeep; ++k)
#pragma unroll
      for (int j = 0; j < kOver; ++j)
#pragma unroll
        for (int i = 0; i < kOver; ++i)
          visit((z.pixel[k] * size[1] + y.pixel[j]) * size[0] + x.pixel[i], i, j, k);
  }

 private:
  static __device__ auto deep(const GridArguments& args, const T* point) {
    if constexpr (rank == 3)
      return AxisTaps<T, mode>(GridAxis<T>(args, 2), point[2]);
    else
      return NoTaps<T, mode>{};
  }
};

// A thread for each point and some channels (blockIdx.y).
template <class T, int rank, GridMode mode>
__device__ inline void grid_sample(const GridArguments& args) {
  const long long number = thread_number();
  if (number >= args.batch * args.points) return;
  const Split at = split(number, args.points);
  const PointTaps<T, rank, mode> taps(args, static_cast<const T*>(args.grid) + number * rank);
  const long long first = blockIdx.y * args.channels_each;
  const long long end =
      first + args.channels_each < args.channels ? first + args.channels_each : args.channels;
  for (long long c = first; c < end; ++c) {
    const long long plane = at.quotient * args.channels + c;
    const T* const image = static_cast<const T*>(args.image) + plane * args.pixels;
    T sum = T(0);
    taps.each([&](long long pixel, int i, int j, int k) {
      // A weight of 0 stands for a pixel outside of the image, whose value must not count.
      const T weight = taps.x.weight[i] * taps.y.weight[j] * taps.z.weight[k];
      if (weight != 0) sum += weight * image[pixel];
    });
    static_cast<T*>(args.out)[plane * args.points + at.rest] = sum;
  }
}

// Points may share pixels: the order of the additions is left to the device.
template <class T, int rank, GridMode mode>
__device__ inline void grid_image_gradient(const GridArguments& args) {
  const long long number = thread_number();
  if (number >= args.batch * args.points) return;
  const Split at = split(number, args.points);
  const PointTaps<T, rank, mode> taps(args, static_cast<const T*>(args.grid) + number * rank);
  const long long first = blockIdx.y * args.channels_each;
  const long long end =
      first + args.channels_each < args.channels ? first + args.channels_each : args.channels;
  for (long long c = first; c < end; ++c) {
    const long long plane = at.quotient * args.channels + c;
    const T from = static_cast<const T*>(args.gradient)[plane * args.points + at.rest];
    T* const to = static_cast<T*>(args.out) + plane * args.pixels;
    taps.each([&](long long pixel, int i, int j, int k) {
      const T weight = taps.x.weight[i] * taps.y.weight[j] * taps.z.weight[k];
      if (weight != 0) atomicAdd(to + pixel, weight * from);
    });
  }
}

// A thread for each point, which goes through all channels.
template <class T, int rank, GridMode mode>
__device__ inline void grid_point_gradient(const GridArguments& args) {
  const long long number = thread_number();
  if (number >= args.batch * args.points) return;
  const Split at = split(number, args.points);
  const PointTaps<T, rank, mode> taps(args, static_cast<const T*>(args.grid) + number * rank);
  T total[rank] = {};
  for (long long c = 0; c < args.channels; ++c) {
    const long long plane = at.quotient * args.channels + c;
    const T from = static_cast<const T*>(args.gradient)[plane * args.points + at.rest];
    const T* const image = static_cast<const T*>(args.image) + plane * args.pixels;
    T sum[rank] = {};
    taps.each([&](long long pixel, int i, int j, int k) {
      const T value = image[pixel];
      const T slope[3] = {taps.x.slope[i] * taps.y.weight[j] * taps.z.weight[k],
                          taps.y.slope[j] * taps.x.weight[i] * taps.z.weight[k],
                          taps.z.slope[k] * taps.x.weight[i] * taps.y.weight[j]};
      for (int a = 0; a < rank; ++a)
        if (slope[a] != 0) sum[a] += slope[a] * value;
    });
    for (int a = 0; a < rank; ++a) total[a] += from * sum[a];
  }
  for (int a = 0; a < rank; ++a) static_cast<T*>(args.out)[number * rank + a] = total[a];
}

// The pixels of an image as points, each with a 1 behind its coordinates.
template <class T, int rank>
__device__ inline void pixel_points(const GridArguments& args) {
  const long long number = thread_number();
  if (number >= args.pixels) return;
  T* out = static_cast<T*>(args.out) + number * (rank + 1);
  Split rest{number, 0};
  for (int a = 0; a < rank; ++a) {
    rest = split(rest.quotient, args.size[a]);
    const T i = static_cast<T>(rest.rest), n = static_cast<T>(args.size[a]);
    const T between = args.size[a] > 1 ? 2 * i / (n - 1) - 1 : T(0);
    out[a] = args.align_corners ? between : (2 * i + 1) / n - 1;
  }
  out[rank] = T(1);
}

}  // namespace fb::device
