// Sequences of numbers: every element from its own position, so that rounding errors do not add up.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/create_args.h"

namespace fb::device {

__device__ inline long long global_thread() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T>
__device__ inline void arange_element(const SequenceArguments& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  auto* out = static_cast<Stored<T>*>(args.out);
  if constexpr (kIsInteger<T> && !kIsSmallFloat<T>)
    out[i] = convert<T>(args.first_integer + args.step_integer * i);
  else
    out[i] = convert<T>(args.first + args.step * static_cast<double>(i));
}

// Counted from the nearer end, so that both ends are exact.
template <class T>
__device__ inline void linspace_element(const SequenceArguments& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  auto* out = static_cast<Stored<T>*>(args.out);
  const bool early = args.n == 1 || i < args.n / 2;
  const double steps = early ? static_cast<double>(i) : -static_cast<double>(args.n - 1 - i);
  const double re = (early ? args.first : args.last) + args.step * steps;
  if constexpr (kIsComplex<T>)
    out[i] = T(Complex<double>(re, (early ? args.first_imag : args.last_imag) +
                                       args.step_imag * steps));
  else
    out[i] = convert<T>(re);
}

template <class T>
__device__ inline void clear_element(const TriangleArguments& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  const long long column = i % args.columns, row = i / args.columns % args.rows;
  const bool outside =
      args.lower ? column - row > args.diagonal : column - row < args.diagonal;
  if (outside) static_cast<Stored<T>*>(args.data)[i] = convert<T>(0);
}

}  // namespace fb::device
