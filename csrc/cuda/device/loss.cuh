// Losses that are a function of each element, their sums and gradients. Elements are float or
// double; functions are those of scalar/loss.h.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/loss_args.h"
#include "scalar/loss.h"

namespace fb::device {

namespace loss = scalar::loss;

template <class T, class L>
struct LossElements {
  const T* x;
  const T* y;
  const T* z;
  loss::Numbers<T> p;

  __device__ explicit LossElements(const LossArguments& args)
      : x(static_cast<const T*>(args.operands[0])),
        y(static_cast<const T*>(args.operands[1])),
        z(static_cast<const T*>(args.operands[L::kOperands - 1])),
        p{static_cast<T>(args.params[0]), static_cast<T>(args.params[1])} {}
};

// Notes operands that the loss is not defined for: its NaN alone would not be an error.
template <class L, class T>
__device__ inline void check_operands(const ErrorSite& site, T x, T y, T z) {
  if constexpr (kIsSame<L, loss::Binary>) {
    if (!(x >= T(0) && x <= T(1))) note_bad_number(site, ErrorCode::kOutsideOfUnit, x);
    if (!(y >= T(0) && y <= T(1))) note_bad_number(site, ErrorCode::kOutsideOfUnit, y);
  }
  if constexpr (kIsSame<L, loss::Gaussian>) {
    if (z < T(0)) note_bad_number(site, ErrorCode::kVariance, z);
  }
}

template <class T, class L, int pack>
__device__ inline void loss_elements(const LossArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i * pack >= args.n) return;
  const LossElements<T, L> e(args);
  T x[pack], y[pack], z[pack];
  load_pack<pack>(e.x, i, x);
  load_pack<pack>(e.y, i, y);
  load_pack<pack>(e.z, i, z);
#pragma unroll
  for (int k = 0; k < pack; ++k) {
    check_operands<L>(args.error, x[k], y[k], z[k]);
    x[k] = L::value(x[k], y[k], z[k], e.p);
  }
  store_pack<pack>(static_cast<T*>(args.out), i, x);
}

template <class T, class L, int operand, int pack>
__device__ inline void loss_gradient(const LossArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i * pack >= args.n) return;
  const LossElements<T, L> e(args);
  const auto* gradient = static_cast<const T*>(args.gradient);
  const T scale = static_cast<T>(args.scale);
  T x[pack], y[pack], z[pack], g[pack];
  load_pack<pack>(e.x, i, x);
  load_pack<pack>(e.y, i, y);
  load_pack<pack>(e.z, i, z);
  if (!args.single) load_pack<pack>(gradient, i, g);
#pragma unroll
  for (int k = 0; k < pack; ++k)
    x[k] = (args.single ? *gradient : g[k]) * scale *
           L::template derivative<operand>(x[k], y[k], z[k], e.p);
  store_pack<pack>(static_cast<T*>(args.out), i, x);
}

// --- sums: f(i) of all elements of a block's segment, a few in T and then in double

template <class T, class F>
__device__ inline void sum_segment(const LossArguments& args, F f) {
  constexpr int kAtOnce = 4;
  const long long begin = blockIdx.x * args.segment_length;
  const long long end =
      begin + args.segment_length < args.n ? begin + args.segment_length : args.n;
  double total = 0;
  long long i = begin + threadIdx.x;
  for (; i + (kAtOnce - 1) * kThreads < end; i += kAtOnce * kThreads) {
    T near = f(i);
#pragma unroll
    for (int k = 1; k < kAtOnce; ++k) near += f(i + k * kThreads);
    total += static_cast<double>(near);
  }
  for (; i < end; i += kThreads) total += static_cast<double>(f(i));
  total = sum_lanes(LanePlace(kThreads, false), total);
  if (threadIdx.x != 0) return;
  if (args.partial)
    args.partial[blockIdx.x] = total;
  else
    *static_cast<T*>(args.out) = static_cast<T>(total / args.divisor);
}

template <class T, class L>
__device__ inline void loss_sum(const LossArguments& args) {
  const LossElements<T, L> e(args);
  sum_segment<T>(args, [&](long long i) {
    const T x = e.x[i], y = e.y[i], z = e.z[i];
    check_operands<L>(args.error, x, y, z);
    return L::value(x, y, z, e.p);
  });
}

template <class T>
__device__ inline void sum_losses(const LossArguments& args) {
  const auto* losses = static_cast<const T*>(args.operands[0]);
  sum_segment<T>(args, [&](long long i) { return losses[i]; });
}

// One block joins n partial sums.
template <class T>
__device__ inline void finish_sum(const LossArguments& args) {
  double total = 0;
  for (long long i = threadIdx.x; i < args.n; i += kThreads) total += args.partial[i];
  total = sum_lanes(LanePlace(kThreads, false), total);
  if (threadIdx.x == 0) *static_cast<T*>(args.out) = static_cast<T>(total / args.divisor);
}

}  // namespace fb::device
