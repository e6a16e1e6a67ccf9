// Pixel shuffle and its inverse: a thread for each element of the result.
#pragma once

#include "cuda/device/image.cuh"
#include "cuda/device/resample_shuffle_args.h"

namespace fb::device {

template <class T>
__device__ inline void channels_to_pixels(const PixelArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at =
      image_element(number, args.rows, args.factor, args.columns, args.factor);
  const long long channel = (at.plane * args.factor + at.h) * args.factor + at.inner;
  static_cast<T*>(args.out)[number] =
      static_cast<const T*>(args.in)[(channel * args.rows + at.d) * args.columns + at.w];
}

template <class T>
__device__ inline void pixels_to_channels(const PixelArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at = image_element(number, args.factor, args.rows, args.columns, 1);
  const Split plane = split(at.plane, args.factor);
  const long long row = (plane.quotient * args.rows + at.h) * args.factor + plane.rest;
  static_cast<T*>(args.out)[number] =
      static_cast<const T*>(args.in)[(row * args.columns + at.w) * args.factor + at.d];
}

}  // namespace fb::device
