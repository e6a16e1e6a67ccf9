// Random numbers whose parameters differ from element to element: a stream for each element, whose
// number of words is not known before. And derivatives of such numbers.
#pragma once

#include "cuda/device/philox.cuh"
#include "cuda/device/random_args.h"
#include "scalar/sample_gradients.h"
#include "scalar/samplers.h"

namespace fb::device {

__device__ inline long long element_number() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T>
__device__ inline void sample_poisson(const SampleArguments& args) {
  const long long i = element_number();
  if (i >= args.n) return;
  const auto rate = convert<double>(static_cast<const T*>(args.first)[i]);
  double number = 0;
  if (rate >= 0) {
    Source source(args.draws, i);
    number = scalar::draw_poisson(source, rate);
  } else {
    note_error(args.error, ErrorCode::kRate);
  }
  static_cast<T*>(args.out)[i] = convert<T>(number);
}

template <class T>
__device__ inline void sample_binomial(const SampleArguments& args) {
  const long long i = element_number();
  if (i >= args.n) return;
  Source source(args.draws, i);
  static_cast<T*>(args.out)[i] = scalar::draw_binomial(
      source, static_cast<const T*>(args.first)[i], static_cast<const T*>(args.second)[i]);
}

template <class T>
__device__ inline void sample_gamma(const SampleArguments& args) {
  const long long i = element_number();
  if (i >= args.n) return;
  Source source(args.draws, i);
  const T number = scalar::draw_gamma(source, static_cast<const T*>(args.first)[i]);
  constexpr T kLeast = math::Format<T>::kMinNormal;
  static_cast<T*>(args.out)[i] = number < kLeast ? kLeast : number;
}

template <class T>
__device__ inline void gamma_gradient(const GradientArguments& args) {
  const long long i = element_number();
  if (i >= args.n) return;
  const double shape = static_cast<const T*>(args.in[0])[i];
  const double sample = static_cast<const T*>(args.in[1])[i];
  static_cast<T*>(args.out)[i] =
      static_cast<T>(scalar::gamma_slope(shape, sample, scalar::kSlopeTolerance<T>));
}

template <class T>
__device__ inline void dirichlet_gradient(const GradientArguments& args) {
  const long long i = element_number();
  if (i >= args.n) return;
  const double sample = static_cast<const T*>(args.in[0])[i];
  const double a = static_cast<const T*>(args.in[1])[i];
  const double b = static_cast<const T*>(args.in[2])[i] - a;
  static_cast<T*>(args.out)[i] =
      static_cast<T>(scalar::beta_slope(a, b, sample, scalar::kSlopeTolerance<T>));
}

}  // namespace fb::device
