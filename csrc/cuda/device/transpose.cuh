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
  // Divisions of 64 bits take long, and most copies are of one matrix.
  long long matrix = args.dims ? blockIdx.x / args.all_tiles : 0;
  const unsigned number = blockIdx.x - static_cast<unsigned>(matrix) * args.all_tiles;
  const unsigned across = number / args.row_tiles;
  const long long first_column = static_cast<long long>(across) * kTile;
  const long long first_row = static_cast<long long>(number - across * args.row_tiles) * kTile;
  const char* in = static_cast<const char*>(args.in);
  char* out = static_cast<char*>(args.out);
  for (int d = args.dims - 1; d >= 0; --d) {
    const long long next = matrix / args.sizes[d], at = matrix - next * args.sizes[d];
    in += at * args.in_strides[d];
    out += at * args.out_strides[d];
    matrix = next;
  }
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const long long source_row = first_row + x, column = first_column + x;
  const bool whole = first_row + kTile <= args.rows && first_column + kTile <= args.columns;
  const auto load = [&](int j) {
    tile[y + j][x] = reinterpret_cast<const T*>(
        in + (first_column + y + j) * args.in_column)[source_row];
  };
  const auto store = [&](int j) {
    reinterpret_cast<T*>(out + (first_row + y + j) * args.out_row)[column] = tile[x][y + j];
  };
  if (whole) {
#pragma unroll
    for (int j = 0; j < kTile; j += kRows) load(j);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kTile; j += kRows) store(j);
    return;
  }
#pragma unroll 1
  for (int j = 0; j < kTile; j += kRows)
    if (source_row < args.rows && first_column + y + j < args.columns) load(j);
  __syncthreads();
#pragma unroll 1
  for (int j = 0; j < kTile; j += kRows)
    if (first_row + y + j < args.rows && column < args.columns) store(j);
}

}  // namespace fb::device
