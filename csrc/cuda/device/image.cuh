// How threads are numbered over the elements of images.
#pragma once

#include "cuda/device/base.cuh"

namespace fb::device {

template <bool first, class A, class B>
struct Choose {
  using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using Type = B;
};

// a / b and what is left, for numbers that are not negative. A division of 64 bits takes several
// times as long as one of 32, which most images can do with.
struct Split {
  long long quotient, rest;
};
__device__ inline Split split(long long a, long long b) {
  if (((a | b) >> 32) == 0) {
    const auto x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
    const unsigned quotient = x / y;
    return {quotient, x - quotient * y};
  }
  const long long quotient = a / b;
  return {quotient, a - quotient * b};
}

// a / b rounded up, for b > 0 and a > -b.
__device__ inline long long split_up(long long a, long long b) {
  return b == 1 ? a : split(a + b - 1, b).quotient;
}

__device__ inline long long thread_number() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

// Element `number` of an array (planes, depth, height, width, inner).
struct ImageElement {
  long long plane, d, h, w, inner;
};
__device__ inline ImageElement image_element(long long number, long long depth, long long height,
                                             long long width, long long inner) {
  ImageElement e{};
  Split rest{number, 0};
  if (inner > 1) {
    rest = split(rest.quotient, inner);
    e.inner = rest.rest;
  }
  rest = split(rest.quotient, width);
  e.w = rest.rest;
  if (height > 1) {
    rest = split(rest.quotient, height);
    e.h = rest.rest;
  }
  if (depth > 1) {
    rest = split(rest.quotient, depth);
    e.d = rest.rest;
  }
  e.plane = rest.quotient;
  return e;
}

}  // namespace fb::device
