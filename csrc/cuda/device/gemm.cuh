// Products of matrices of any type: a block computes 64 x 64 elements, a thread 4 x 4 of them.
#pragma once

#include "cuda/device/gemm_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

template <class T>
__device__ inline void product_tile(const ProductArguments& args) {
  using V = Wide<T>;
  constexpr int kTile = 64, kDepth = 16, kOwn = 4;
  __shared__ V left[kDepth][kTile];
  __shared__ V right[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % 16, row = thread / 16;
  const long long first_row = static_cast<long long>(blockIdx.x) * kTile;
  const long long first_column = static_cast<long long>(blockIdx.y) * kTile;
  for (long long i = blockIdx.z; i < args.batch; i += gridDim.z) {
    const auto* a = static_cast<const T*>(args.a) + i * args.a_batch;
    const auto* b = static_cast<const T*>(args.b) + i * args.b_batch;
    auto* c = static_cast<T*>(args.c) + i * args.c_batch;
    for (long long right_column = first_column; right_column < args.n;
         right_column += static_cast<long long>(gridDim.y) * kTile) {
      V sum[kOwn][kOwn];
      for (int y = 0; y < kOwn; ++y)
        for (int x = 0; x < kOwn; ++x) sum[y][x] = V(0);
      for (long long depth = 0; depth < args.k; depth += kDepth) {
        for (int at = thread; at < kTile * kDepth; at += kThreads) {
          // Neighbouring threads read neighbouring elements, whichever way the matrix lies.
          const int ar = args.a_column == 1 ? at / kDepth : at % kTile;
          const int ad = args.a_column == 1 ? at % kDepth : at / kTile;
          left[ad][ar] = first_row + ar < args.m && depth + ad < args.k
                             ? convert<V>(a[(first_row + ar) * args.a_row +
                                            (depth + ad) * args.a_column])
                             : V(0);
          const int bc = args.b_column == 1 ? at % kTile : at / kDepth;
          const int bd = args.b_column == 1 ? at / kTile : at % kDepth;
          right[bd][bc] = right_column + bc < args.n && depth + bd < args.k
                              ? convert<V>(b[(depth + bd) * args.b_row +
                                             (right_column + bc) * args.b_column])
                              : V(0);
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d)
#pragma unroll
          for (int y = 0; y < kOwn; ++y)
#pragma unroll
            for (int x = 0; x < kOwn; ++x)
              sum[y][x] = scalar::add(
                  sum[y][x], scalar::mul(left[d][row * kOwn + y], right[d][column + 16 * x]), V(1));
        __syncthreads();
      }
      for (int y = 0; y < kOwn; ++y) {
        const long long r = first_row + row * kOwn + y;
        for (int x = 0; x < kOwn; ++x) {
          const long long l = right_column + column + 16 * x;
          if (r >= args.m || l >= args.n) continue;
          T& target = c[r * args.c_row + l];
          V value = sum[y][x];
          if (args.accumulate) value = scalar::add(value, convert<V>(target), V(1));
          if (args.bias)
            value = scalar::add(value, convert<V>(static_cast<const T*>(args.bias)[l]), V(1));
          target = convert<T>(value);
        }
      }
    }
  }
}

}  // namespace fb::device
