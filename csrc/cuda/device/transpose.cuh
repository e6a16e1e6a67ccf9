// Transposed copies: a block reads a tile along the source's rows and writes it along the target's.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/transpose_args.h"

namespace fb::device {

// `side` elements along both sides of a tile.
template <class T, int side>
__device__ inline void transpose_tile(const TransposeArguments& args) {
  constexpr int kTile = side, kRows = kThreads / kTile;
  // One column more, so that the elements of a column are in different banks.
  __shared__ T tile[kTile][kTile + 1];
  long long matrix = blockIdx.x / args.all_tiles;
  const long long number = blockIdx.x - matrix * args.all_tiles;
  const long long across = number / args.row_tiles;
  const long long first_column = across * kTile;
  const long long first_row = (number - across * args.row_tiles) * kTile;
  const char* in = static_cast<const char*>(args.in);
  char* out = static_cast<char*>(args.out);
  for (int d = args.dims - 1; d >= 0; --d) {
    const long long next = matrix / args.sizes[d], at = matrix - next * args.sizes[d];
    in += at * args.in_strides[d];
    out += at * args.out_strides[d];
    matrix = next;
  }
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const long long source_row = first_row + x;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows) {
    const long long column = first_column + y + j;
    if (source_row < args.rows && column < args.columns)
      tile[y + j][x] = reinterpret_cast<const T*>(in + column * args.in_column)[source_row];
  }
  __syncthreads();
  const long long column = first_column + x;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows) {
    const long long row = first_row + y + j;
    if (row < args.rows && column < args.columns)
      reinterpret_cast<T*>(out + row * args.out_row)[column] = tile[x][y + j];
  }
}

}  // namespace fb::device
