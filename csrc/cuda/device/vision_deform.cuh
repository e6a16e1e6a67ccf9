// Deformable convolutions of one image: the pixels under taps that offsets move and a mask scales.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/vision_args.h"
#include "scalar/math.h"

namespace fb::device {

// A point between four pixels; -1 stands for a pixel outside, which counts as zero.
template <class T>
struct DeformPoint {
  long long pixel[4] = {-1, -1, -1, -1};
  T down = T(0), across = T(0), factor;
  long long at;      // of the result's pixel
  long long number;  // of the group and tap

  // The point that a tap reads for element i of (points, result).
  __device__ DeformPoint(const DeformArguments& args, long long i) {
    const long long result = args.down.result * args.across.result;
    number = i / result;
    at = i - number * result;
    const long long tap = number % (args.down.kernel * args.across.kernel);
    const long long tap_row = tap / args.across.kernel, row = at / args.across.result;
    const long long tap_column = tap - tap_row * args.across.kernel;
    const long long column = at - row * args.across.result;
    const T* offset = static_cast<const T*>(args.offset) + 2 * number * result + at;
    const T y =
        static_cast<T>(tap_row * args.down.dilation - args.down.padding + row * args.down.stride) +
        offset[0];
    const T x = static_cast<T>(tap_column * args.across.dilation - args.across.padding +
                               column * args.across.stride) +
                offset[result];
    factor = args.mask ? static_cast<const T*>(args.mask)[number * result + at] : T(1);
    // What is outside counts as zero, but for NaN, which reaches the result as a fraction.
    if (!(y > T(-1) && y < static_cast<T>(args.height) && x > T(-1) &&
          x < static_cast<T>(args.width))) {
      if (y != y || x != x) down = across = y + x;
      return;
    }
    const T top = math::floor(y), left = math::floor(x);
    down = y - top;
    across = x - left;
    for (int k = 0; k < 4; ++k) {
      const long long r = static_cast<long long>(top) + k / 2;
      const long long c = static_cast<long long>(left) + k % 2;
      if (r >= 0 && r < args.height && c >= 0 && c < args.width) pixel[k] = r * args.width + c;
    }
  }
  __device__ T weight(int k) const {
    return (k < 2 ? T(1) - down : down) * (k % 2 == 0 ? T(1) - across : across);
  }
  __device__ T value(const T* plane, int k) const { return pixel[k] < 0 ? T(0) : plane[pixel[k]]; }
};

// The channels of a thread, and where its point is in their rows of the columns.
struct DeformChannels {
  long long begin, end;  // of the image
  long long taps, tap;

  template <class T>
  __device__ DeformChannels(const DeformArguments& args, const DeformPoint<T>& point,
                            long long first, long long count) {
    taps = args.down.kernel * args.across.kernel;
    const long long group = point.number / taps;
    tap = point.number - group * taps;
    const long long last = first + count < args.channels ? first + count : args.channels;
    begin = group * args.channels + first;
    end = group * args.channels + last;
  }
  __device__ long long row(long long channel, const DeformArguments& args) const {
    return (channel * taps + tap) * args.down.result * args.across.result;
  }
};

template <class T>
__device__ inline void deform_column(const DeformArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.points * args.down.result * args.across.result) return;
  const DeformPoint<T> point(args, i);
  T weights[4];
  for (int k = 0; k < 4; ++k) weights[k] = point.weight(k) * point.factor;
  auto* columns = static_cast<T*>(args.columns) + point.at;
  for (long long first = blockIdx.y * static_cast<long long>(kDeformChannels);
       first < args.channels; first += gridDim.y * static_cast<long long>(kDeformChannels)) {
    const DeformChannels channels(args, point, first, kDeformChannels);
    for (long long c = channels.begin; c < channels.end; ++c) {
      const T* plane = static_cast<const T*>(args.pixels) + c * args.height * args.width;
      columns[channels.row(c, args)] =
          (weights[0] * point.value(plane, 0) + weights[1] * point.value(plane, 1)) +
          (weights[2] * point.value(plane, 2) + weights[3] * point.value(plane, 3));
    }
  }
}

// A thread sums over all channels of its group, so offsets and mask have one writer each. Taps
// overlap: their pixels are added to.
template <class T>
__device__ inline void deform_gradient(const DeformArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  const long long result = args.down.result * args.across.result;
  if (i >= args.points * result) return;
  const DeformPoint<T> point(args, i);
  const DeformChannels channels(args, point, 0, args.channels);
  const auto* columns = static_cast<const T*>(args.columns) + point.at;
  T to_down = T(0), to_across = T(0), to_mask = T(0);
  for (long long c = channels.begin; c < channels.end; ++c) {
    const T above = columns[channels.row(c, args)], share = above * point.factor;
    const T* plane = static_cast<const T*>(args.pixels) + c * args.height * args.width;
    T* to_plane = static_cast<T*>(args.to_pixels) + c * args.height * args.width;
    T v[4];
    for (int k = 0; k < 4; ++k) {
      v[k] = point.value(plane, k);
      if (point.pixel[k] >= 0) atomicAdd(to_plane + point.pixel[k], point.weight(k) * share);
    }
    const T upper = v[0] + (v[1] - v[0]) * point.across;
    const T lower = v[2] + (v[3] - v[2]) * point.across;
    to_down += share * (lower - upper);
    to_across += share * (v[1] - v[0] + (v[3] - v[2] - v[1] + v[0]) * point.down);
    to_mask += above * (upper + (lower - upper) * point.down);
  }
  T* offset = static_cast<T*>(args.to_offset) + 2 * point.number * result + point.at;
  offset[0] += to_down;
  offset[result] += to_across;
  if (args.to_mask) static_cast<T*>(args.to_mask)[point.number * result + point.at] += to_mask;
}

}  // namespace fb::device
