// Sequences of numbers: every element from its own position, so that rounding errors do not add up.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/create_args.h"
#include "scalar/math.h"
#include "scalar/math/complex.h"

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
template <class V>
__device__ inline V value_between(const SequenceArguments& args, long long i) {
  const bool early = args.n == 1 || i < args.n / 2;
  const double steps = early ? static_cast<double>(i) : -static_cast<double>(args.n - 1 - i);
  const double re = (early ? args.first : args.last) + args.step * steps;
  if constexpr (kIsComplex<V>)
    return V(re, (early ? args.first_imag : args.last_imag) + args.step_imag * steps);
  else
    return re;
}

template <class T>
__device__ inline void linspace_element(const SequenceArguments& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  auto* out = static_cast<Stored<T>*>(args.out);
  if constexpr (kIsComplex<T>)
    out[i] = T(value_between<Complex<double>>(args, i));
  else
    out[i] = convert<T>(value_between<double>(args, i));
}

template <class T>
__device__ inline void logspace_element(const SequenceArguments& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  auto* out = static_cast<Stored<T>*>(args.out);
  if constexpr (kIsComplex<T>)
    out[i] = T(math::pow(Complex<double>(args.base), value_between<Complex<double>>(args, i)));
  else
    out[i] = convert<T>(math::pow(args.base, value_between<double>(args, i)));
}

template <class T>
__device__ inline void triangle_index(const TriangleIndices& args) {
  const long long i = global_thread();
  if (i >= args.n) return;
  long long low = 0, high = args.last_row - args.first_row;
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (elements_before(args, middle) <= i)
      low = middle;
    else
      high = middle;
  }
  const long long row = args.first_row + low, begin = row + args.diagonal;
  args.rows[i] = row;
  args.columns_out[i] = i - elements_before(args, low) + (args.lower || begin < 0 ? 0 : begin);
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
