// Max pooling. A thread computes one element of the result.
//
// The gradient is gathered: an element of the input looks at the windows that it is in, so that
// sums have an order. Where windows are not known, a thread adds up a whole plane.
#pragma once

#include "cuda/device/image.cuh"
#include "cuda/device/pool_args.h"
#include "scalar/arith.h"

namespace fb::device {

// What elements are compared and added in.
template <class T>
struct PoolLane {
  using Type = int;
};
template <>
struct PoolLane<float> {
  using Type = float;
};
template <>
struct PoolLane<Half> {
  using Type = float;
};
template <>
struct PoolLane<BFloat16> {
  using Type = float;
};
template <>
struct PoolLane<double> {
  using Type = double;
};
template <>
struct PoolLane<int64_t> {
  using Type = int64_t;
};
template <class T>
using PoolLaneOf = typename PoolLane<T>::Type;

template <class A>
__device__ inline A lowest_of() {
  if constexpr (kIsFloat<A>)
    return -math::infinity<A>();
  else
    return static_cast<A>(A(1) << (8 * sizeof(A) - 1));
}

// Positions origin + k * dilation with k in [first, last).
struct PoolWindow {
  long long origin, first, last;
};
__device__ inline PoolWindow window_of(const PoolSide& side, long long o) {
  if (side.stride == 0) {
    const long long start = split(o * side.in, side.out).quotient;
    return {start, 0, split_up((o + 1) * side.in, side.out) - start};
  }
  const long long start = o * side.stride - side.padding;
  const long long first = start < 0 ? split_up(-start, side.dilation) : 0;
  const long long room = side.in - start;
  long long last = room > 0 ? split_up(room, side.dilation) : 0;
  if (last > side.kernel) last = side.kernel;
  if (first >= last) return {0, 0, 0};
  return {start, first, last};
}

__device__ inline long long pool_out_size(const PoolArguments& args) {
  return args.side[0].out * args.side[1].out * args.side[2].out;
}
__device__ inline long long pool_in_size(const PoolArguments& args) {
  return args.side[0].in * args.side[1].in * args.side[2].in;
}

template <class T>
__device__ inline void max_pool(const PoolArguments& args) {
  using A = PoolLaneOf<T>;
  const long long number = thread_number();
  if (number >= args.n) return;
  const PoolSide &depth = args.side[0], &height = args.side[1], &width = args.side[2];
  const ImageElement o =
      image_element(number, depth.out, height.out, width.out, args.inner);
  const PoolWindow wd = window_of(depth, o.d), wh = window_of(height, o.h),
                   ww = window_of(width, o.w);
  const T* const in =
      static_cast<const T*>(args.in) + o.plane * pool_in_size(args) * args.inner + o.inner;
  const auto pixel_of = [&](long long kd, long long kh, long long kw) {
    return ((wd.origin + kd * depth.dilation) * height.in + wh.origin + kh * height.dilation) *
               width.in +
           ww.origin + kw * width.dilation;
  };
  A best = lowest_of<A>();
  long long best_pixel = pixel_of(wd.first, wh.first, ww.first);
  long long best_number = (wd.first * height.kernel + wh.first) * width.kernel + ww.first;
  for (long long kd = wd.first; kd < wd.last; ++kd)
    for (long long kh = wh.first; kh < wh.last; ++kh) {
      long long pixel = pixel_of(kd, kh, ww.first);
      const long long row = (kd * height.kernel + kh) * width.kernel;
      for (long long kw = ww.first; kw < ww.last; ++kw, pixel += width.dilation) {
        const A x = convert<A>(in[pixel * args.inner]);
        if (!(x > best) && x == x) continue;
        best = x;
        best_pixel = pixel;
        best_number = row + kw;
      }
    }
  static_cast<T*>(args.out)[number] = convert<T>(best);
  if (args.numbers) args.numbers[number] = static_cast<unsigned char>(best_number);
  if (args.indices) args.indices[number] = best_pixel;
}

// The outputs [first, last] whose windows may have position i.
struct PoolCover {
  long long first, last;
};
__device__ inline PoolCover cover_of(const PoolSide& side, long long i) {
  if (side.stride == 0)
    return {split(i * side.out, side.in).quotient, split((i + 1) * side.out - 1, side.in).quotient};
  const long long at = i + side.padding, behind = at - (side.kernel - 1) * side.dilation;
  const long long first = behind > 0 ? split_up(behind, side.stride) : 0;
  const long long last = split(at, side.stride).quotient;
  return {first, last < side.out ? last : side.out - 1};
}
// The number of position i in the window of output o; -1 if the window steps over it.
__device__ inline long long number_in(const PoolSide& side, long long o, long long i) {
  if (side.stride == 0) return i - split(o * side.in, side.out).quotient;
  const long long distance = i + side.padding - o * side.stride;
  if (side.dilation == 1) return distance;
  const Split at = split(distance, side.dilation);
  return at.rest == 0 ? at.quotient : -1;
}

template <class T>
__device__ inline void max_pool_gather(const PoolArguments& args) {
  using A = PoolLaneOf<T>;
  const long long number = thread_number();
  if (number >= args.n) return;
  const PoolSide &depth = args.side[0], &height = args.side[1], &width = args.side[2];
  const ImageElement i = image_element(number, depth.in, height.in, width.in, args.inner);
  const PoolCover d = cover_of(depth, i.d), h = cover_of(height, i.h), w = cover_of(width, i.w);
  const long long pixel = (i.d * height.in + i.h) * width.in + i.w;
  const auto* gradient = static_cast<const T*>(args.in);
  A sum = A(0);
  for (long long od = d.first; od <= d.last; ++od) {
    const long long kd = number_in(depth, od, i.d);
    if (kd < 0) continue;
    for (long long oh = h.first; oh <= h.last; ++oh) {
      const long long kh = number_in(height, oh, i.h);
      if (kh < 0) continue;
      long long at =
          (((i.plane * depth.out + od) * height.out + oh) * width.out + w.first) * args.inner +
          i.inner;
      for (long long ow = w.first; ow <= w.last; ++ow, at += args.inner) {
        const long long kw = number_in(width, ow, i.w);
        if (kw < 0) continue;
        const long long own = (kd * height.kernel + kh) * width.kernel + kw;
        const bool is_here = args.numbers ? args.numbers[at] == own : args.indices[at] == pixel;
        if (is_here) sum += convert<A>(gradient[at]);
      }
    }
  }
  static_cast<T*>(args.out)[number] = convert<T>(sum);
}

// Whether an index is one of a plane of `size` positions.
__device__ inline bool is_position(const ErrorSite& error, long long index, long long size) {
  if (index >= 0 && index < size) return true;
  note_bad_index(error, index, size, 0);
  return false;
}

// One thread for each plane and channel: any positions, added in their order. `out` is cleared.
template <class T>
__device__ inline void max_pool_add(const PoolArguments& args) {
  using A = PoolLaneOf<T>;
  const long long number = thread_number();
  if (number >= args.n) return;
  const Split at = split(number, args.inner);
  const long long count = pool_out_size(args), size = pool_in_size(args);
  const long long first = at.quotient * count * args.inner + at.rest;
  const auto* gradient = static_cast<const T*>(args.in) + first;
  const long long* indices = args.indices + first;
  T* const out = static_cast<T*>(args.out) + at.quotient * size * args.inner + at.rest;
  for (long long o = 0; o < count; ++o) {
    const long long index = indices[o * args.inner];
    if (!is_position(args.error, index, size)) continue;
    T& sum = out[index * args.inner];
    sum = convert<T>(convert<A>(sum) + convert<A>(gradient[o * args.inner]));
  }
}

// The pixel that a window's largest element is at, by its number in the window.
__device__ inline long long numbered_pixel(const PoolArguments& args, const ImageElement& o,
                                           long long number) {
  const PoolSide &depth = args.side[0], &height = args.side[1], &width = args.side[2];
  const Split column = split(number, width.kernel), row = split(column.quotient, height.kernel);
  const long long d = window_of(depth, o.d).origin + row.quotient * depth.dilation;
  const long long h = window_of(height, o.h).origin + row.rest * height.dilation;
  return (d * height.in + h) * width.in + window_of(width, o.w).origin +
         column.rest * width.dilation;
}

template <class T>
__device__ inline void max_pool_pick(const PoolArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement o = image_element(number, args.side[0].out, args.side[1].out,
                                       args.side[2].out, args.inner);
  const long long size = pool_in_size(args);
  long long pixel;
  if (args.numbers) {
    pixel = numbered_pixel(args, o, args.numbers[number]);
  } else {
    pixel = args.indices[number];
    if (!is_position(args.error, pixel, size)) return;
  }
  static_cast<T*>(args.out)[number] =
      static_cast<const T*>(args.in)[(o.plane * size + pixel) * args.inner + o.inner];
}

// Unpooling takes two steps: of several elements for a position the last one owns it, and stores.
__device__ inline long long unpooled_at(const PoolArguments& args, long long number,
                                        long long& rank) {
  const Split pixel = split(number, args.inner);
  const Split plane = split(pixel.quotient, pool_out_size(args));
  const long long size = pool_in_size(args), index = args.indices[number];
  if (!is_position(args.error, index, size)) return -1;
  rank = plane.rest;
  return (plane.quotient * size + index) * args.inner + pixel.rest;
}

template <class T>
__device__ inline void max_unpool_own(const PoolArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  long long rank = 0;
  const long long at = unpooled_at(args, number, rank);
  if (at >= 0) atomicMax(args.owners + at, static_cast<int>(rank));
}

template <class T>
__device__ inline void max_unpool_store(const PoolArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  long long rank = 0;
  const long long at = unpooled_at(args, number, rank);
  if (at >= 0 && args.owners[at] == rank)
    static_cast<T*>(args.out)[at] = static_cast<const T*>(args.in)[number];
}

// The first position of window `o`: steps of room / (out - 1) from a random phase on, the last
// window at the end. A phase that is out of range is moved into it.
template <class P>
__device__ inline long long fractional_start(P sample, long long room, long long out, long long o) {
  if (o + 1 >= out) return room;
  const P phase = sample >= 0 ? (sample <= 1 ? sample : P(1)) : P(0);
  const P step = static_cast<P>(room) / static_cast<P>(out - 1);
  const long long start = static_cast<long long>((static_cast<P>(o) + phase) * step) -
                          static_cast<long long>(phase * step);
  return start < room ? start : room;
}

template <class T, class P>
__device__ inline void fractional_max_pool(const FractionalArguments& args) {
  using A = PoolLaneOf<T>;
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement o = image_element(number, args.out[0], args.out[1], args.out[2], 1);
  const long long place[3] = {o.d, o.h, o.w};
  const P* const samples = static_cast<const P*>(args.samples) + o.plane * args.rank;
  long long start[3];
  for (int a = 0; a < 3; ++a)
    start[a] = args.sample[a] < 0 ? 0
                                  : fractional_start(samples[args.sample[a]],
                                                     args.in[a] - args.kernel[a], args.out[a],
                                                     place[a]);
  const T* const in =
      static_cast<const T*>(args.from) + o.plane * args.in[0] * args.in[1] * args.in[2];
  A best = lowest_of<A>();
  long long best_pixel = (start[0] * args.in[1] + start[1]) * args.in[2] + start[2];
  for (long long d = start[0]; d < start[0] + args.kernel[0]; ++d)
    for (long long h = start[1]; h < start[1] + args.kernel[1]; ++h)
      for (long long w = start[2]; w < start[2] + args.kernel[2]; ++w) {
        const long long pixel = (d * args.in[1] + h) * args.in[2] + w;
        const A x = convert<A>(in[pixel]);
        if (!(x > best) && x == x) continue;
        best = x;
        best_pixel = pixel;
      }
  static_cast<T*>(args.to)[number] = convert<T>(best);
  args.indices[number] = best_pixel;
}

}  // namespace fb::device
