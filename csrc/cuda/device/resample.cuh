// Weighted sums along the dimensions of images.
#pragma once

#include "cuda/device/image.cuh"
#include "cuda/device/reduce.cuh"
#include "cuda/device/resample_args.h"

namespace fb::device {

template <class T>
struct ResampledIn {
  using Type = float;
};
template <>
struct ResampledIn<double> {
  using Type = double;
};

template <class T, class A>
__device__ inline T as_pixel(A value) {
  if constexpr (kIsSame<T, uint8_t> && !kIsSame<T, A>) {
    const A whole = math::rint(value);
    return static_cast<uint8_t>(whole < 0 ? 0 : whole > 255 ? 255 : whole);
  } else {
    return convert<T>(value);
  }
}

// What output o is made of, along one dimension.
template <class A>
struct Terms {
  const ResampleSide& side;
  const long long o;
  const int count;

  __device__ Terms(const ResampleSide& s, long long output)
      : side(s), o(output), count(s.index ? s.count[output] : 1) {}
  __device__ long long index(int k) const { return side.index ? side.index[k * side.out + o] : o; }
  __device__ A weight(int k) const {
    return side.index ? static_cast<const A*>(side.weight)[k * side.out + o] : A(1);
  }
};

// From elements or from sums, to elements or to sums, which are what is computed with. With several
// lanes they share the terms of a row.
template <class T, bool from_sums, bool to_sums, int lanes>
__device__ inline void resample(const ResampleArguments& args) {
  using A = typename ResampledIn<T>::Type;
  using In = typename Choose<from_sums, A, T>::Type;
  using Out = typename Choose<to_sums, A, T>::Type;
  const long long number = lanes == 1 ? thread_number() : thread_number() / lanes;
  const int lane = lanes == 1 ? 0 : static_cast<int>(threadIdx.x % lanes);
  const bool is_there = number < args.n;
  if (lanes == 1 && !is_there) return;
  A sum = A(0);
  if (is_there) {
    const ResampleSide *depth = args.side, *height = args.side + 1, *width = args.side + 2;
    const ImageElement o =
        image_element(number, depth->out, height->out, width->out, args.inner);
    const Terms<A> d(*depth, o.d), h(*height, o.h), w(*width, o.w);
    const auto* in = static_cast<const In*>(args.in);
    for (int kd = 0; kd < d.count; ++kd)
      for (int kh = 0; kh < h.count; ++kh) {
        const long long row = (o.plane * depth->in + d.index(kd)) * height->in + h.index(kh);
        const A weight = d.weight(kd) * h.weight(kh);
        for (int kw = lane; kw < w.count; kw += lanes) {
          const In x = in[(row * width->in + w.index(kw)) * args.inner + o.inner];
          sum += weight * w.weight(kw) * convert<A>(x);
        }
      }
  }
  if constexpr (lanes > 1) {
    for (int other = lanes / 2; other > 0; other /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, other);
    if (!is_there || lane != 0) return;
  }
  static_cast<Out*>(args.out)[number] = as_pixel<Out, A>(sum);
}

}  // namespace fb::device
