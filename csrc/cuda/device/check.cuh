// Checks of elements: each kernel finds the first one that fails.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/check_args.h"
#include "scalar/math.h"

namespace fb::device {

template <class Fails>
__device__ inline void find_first(const CheckArguments& args, Fails fails) {
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < args.n;
       i += step) {
    if (!fails(i)) continue;
    atomicMax(args.found, static_cast<unsigned long long>(args.n - i));
    return;
  }
}

template <class T, bool exact = kIsSame<T, double> || (kIsInteger<T> && !kIsSmallFloat<T>)>
struct ComparedAs {
  using Type = float;
};
template <class T>
struct ComparedAs<T, true> {
  using Type = double;
};

template <class T>
__device__ inline void find_out_of_range(const CheckArguments& args) {
  using Real = typename ComparedAs<T>::Type;
  const auto low = static_cast<Real>(args.low), high = static_cast<Real>(args.high);
  find_first(args, [&](long long i) {
    const auto x = convert<Real>(from_memory<T>(static_cast<const Stored<T>*>(args.in)[i]));
    if (!((args.above ? x > low : x >= low) & (args.below ? x < high : x <= high))) return true;
    if constexpr (kIsInteger<T> && !kIsSmallFloat<T>) return false;
    return args.whole && !(x == math::floor(x) && math::abs(x) != math::infinity<Real>());
  });
}

template <class T>
__device__ inline void find_infinite(const CheckArguments& args) {
  using Real = RealOf<T>;
  const auto is_finite = [](Real x) { return math::abs(x) < math::infinity<Real>(); };
  find_first(args, [&](long long i) {
    const T x = static_cast<const T*>(args.in)[i];
    if constexpr (kIsComplex<T>)
      return !(is_finite(x.re) & is_finite(x.im));
    else
      return !is_finite(x);
  });
}

template <class T>
__device__ inline void find_zero(const CheckArguments& args) {
  find_first(args, [&](long long i) {
    return !convert<bool>(from_memory<T>(static_cast<const Stored<T>*>(args.in)[i]));
  });
}

template <class T>
__device__ inline void find_out_of_bounds(const CheckArguments& args) {
  const auto* in = static_cast<const T*>(args.in);
  find_first(args, [&](long long i) { return in[i] < args.least || in[i] > args.greatest; });
}

template <class T>
__device__ inline void find_not_rising(const CheckArguments& args) {
  const auto* in = static_cast<const T*>(args.in);
  find_first(args, [&](long long i) { return i > 0 && in[i] <= in[i - 1]; });
}

}  // namespace fb::device
