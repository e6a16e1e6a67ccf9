// Factors taken apart, determinants, sums of squares.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/lanes.cuh"
#include "cuda/device/linalg_args.h"
#include "scalar/math.h"

namespace fb::device {

__device__ inline long long thread_number() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T>
__device__ inline void unpack_factor(const UnpackArguments& args) {
  const long long i = thread_number();
  if (i >= args.elements) return;
  const long long line = i / args.columns, column = i - line * args.columns;
  const long long matrix = line / args.rows, row = line - matrix * args.rows;
  const bool ones = args.lower && row == column;
  const bool inside = args.lower ? column < row : column >= row;
  const auto* packed = static_cast<const Stored<T>*>(args.packed);
  static_cast<Stored<T>*>(args.out)[i] =
      inside ? packed[(matrix * args.m + row) * args.n + column] : convert<Stored<T>>(ones ? 1 : 0);
}

// A thread follows one row back through the exchanges, from the last one.
template <class T>
__device__ inline void permutation_column(const PermutationArguments& args) {
  const long long i = thread_number();
  if (i >= args.columns) return;
  const long long matrix = i / args.size, column = i - matrix * args.size;
  const int* pivots = args.pivots + matrix * args.count;
  long long at = column;
  for (long long k = args.count - 1; k >= 0; --k) {
    const long long other = pivots[k] - 1;
    at = at == k ? other : at == other ? k : at;
  }
  auto* out = static_cast<Stored<T>*>(args.out) + matrix * args.size * args.size + column;
  for (long long row = 0; row < args.size; ++row)
    out[row * args.size] = convert<Stored<T>>(row == at ? 1 : 0);
}

// --- a warp for each matrix

template <class T>
__device__ inline void determinant(const DiagonalArguments& args) {
  const long long matrix = warp_number();
  if (matrix >= args.batch) return;
  const auto* factors = static_cast<const T*>(args.factors) + matrix * args.n * args.n;
  const int* pivots = args.pivots + matrix * args.n;
  T product = T(1);
  for (long long i = lane_number(); i < args.n; i += kWarp) {
    const T u = factors[i * args.n + i];
    product = product * (pivots[i] == i + 1 ? u : -u);
  }
  product = join_warp(product, [](T a, T b) { return a * b; });
  if (lane_number() == 0) static_cast<T*>(args.out)[matrix] = product;
}

template <class T>
__device__ inline void log_determinant(const DiagonalArguments& args) {
  using Real = RealOf<T>;
  const long long matrix = warp_number();
  if (matrix >= args.batch) return;
  const auto* factors = static_cast<const T*>(args.factors) + matrix * args.n * args.n;
  const int* pivots = args.pivots + matrix * args.n;
  T phase = T(1);
  Real sum = Real(0);
  for (long long i = lane_number(); i < args.n; i += kWarp) {
    const T u = factors[i * args.n + i];
    Real size;
    if constexpr (kIsComplex<T>) {
      size = math::hypot(u.re, u.im);
      phase = size == Real(0) ? T(0) : phase * T(u.re / size, u.im / size);
    } else {
      size = math::abs(u);
      phase = u > 0 ? phase : u < 0 ? -phase : u;
    }
    if (pivots[i] != i + 1) phase = -phase;
    sum += math::log(size);
  }
  phase = join_warp(phase, [](T a, T b) { return a * b; });
  sum = join_warp(sum, [](Real a, Real b) { return a + b; });
  if (lane_number() != 0) return;
  static_cast<T*>(args.out)[matrix] = phase;
  static_cast<Real*>(args.log)[matrix] = sum;
}

template <class T>
__device__ inline void triangle_element(const PackedArguments& args) {
  const long long i = thread_number();
  if (i >= args.elements) return;
  const long long line = i / args.rows, row = i - line * args.rows;
  const long long matrix = line / args.columns, column = line - matrix * args.columns;
  const auto* packed = static_cast<const T*>(args.packed);
  static_cast<T*>(args.out)[i] =
      row <= column ? packed[(matrix * args.packed_columns + column) * args.packed_rows + row]
                    : T(0);
}

template <class T>
__device__ inline void sum_of_squares(const SquaresArguments& args) {
  using Real = RealOf<T>;
  const long long column = warp_number();
  if (column >= args.columns) return;
  const auto* in = static_cast<const T*>(args.in) + column * args.rows;
  Real sum = Real(0);
  for (long long i = args.first + lane_number(); i < args.rows; i += kWarp) {
    if constexpr (kIsComplex<T>)
      sum += in[i].re * in[i].re + in[i].im * in[i].im;
    else
      sum += in[i] * in[i];
  }
  sum = join_warp(sum, [](Real a, Real b) { return a + b; });
  if (lane_number() == 0) static_cast<Real*>(args.out)[column] = sum;
}

}  // namespace fb::device
