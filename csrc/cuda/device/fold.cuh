// Windows of images as columns, and back.
#pragma once

#include "cuda/device/fold_args.h"
#include "cuda/device/image.cuh"
#include "scalar/arith.h"

namespace fb::device {

// A thread for each element of the columns (planes, kernel, kernel, windows, windows).
template <class T>
__device__ inline void unfold_planes(const FoldArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at =
      image_element(number, args.x.kernel, args.y.windows, args.x.windows, 1);
  const Split tap = split(at.plane, args.y.kernel);
  const long long y = at.h * args.y.stride + tap.rest * args.y.dilation - args.y.padding;
  const long long x = at.w * args.x.stride + at.d * args.x.dilation - args.x.padding;
  const bool inside = y >= 0 && y < args.y.size && x >= 0 && x < args.x.size;
  static_cast<T*>(args.out)[number] =
      inside ? static_cast<const T*>(args.in)[(tap.quotient * args.y.size + y) * args.x.size + x]
             : T{};
}

// The window that has position `at` as its tap k; -1 if none has.
__device__ inline long long window_with(const SlidingSide& side, long long at, long long k) {
  const long long start = at + side.padding - k * side.dilation;
  if (start < 0) return -1;
  const Split window = split(start, side.stride);
  return window.rest == 0 && window.quotient < side.windows ? window.quotient : -1;
}

// A thread for each pixel: adds what the windows that it is in have of it.
template <class T>
__device__ inline void fold_planes(const FoldArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at = image_element(number, 1, args.y.size, args.x.size, 1);
  Stored<T>* const image = static_cast<Stored<T>*>(args.out);
  const auto* columns = static_cast<const Stored<T>*>(args.in);
  T sum = from_memory<T>(image[number]);
  for (long long ky = 0; ky < args.y.kernel; ++ky) {
    const long long wy = window_with(args.y, at.h, ky);
    if (wy < 0) continue;
    for (long long kx = 0; kx < args.x.kernel; ++kx) {
      const long long wx = window_with(args.x, at.w, kx);
      if (wx < 0) continue;
      const long long tap = (at.plane * args.y.kernel + ky) * args.x.kernel + kx;
      const T term =
          from_memory<T>(columns[(tap * args.y.windows + wy) * args.x.windows + wx]);
      sum = scalar::add(sum, term, T(1));
    }
  }
  image[number] = sum;
}

}  // namespace fb::device
