// Copies between arrays whose elements are neighbours along different dimensions.
#include "cuda/transpose.h"

#include <algorithm>

#include "cuda/device/transpose_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"
#include "kernel/strided.h"

namespace fb::cuda {
namespace {

TypedKernel tile_kernel("transpose.cuh", "transpose_tile", "TransposeArguments");

// Of a smaller matrix most of a tile would be empty.
constexpr int64_t kLeast = 16;
// Elements along a side of a tile; of small elements in large matrices twice as many, so that more
// of them are on their way.
constexpr int kSmallTile = 32;

}  // namespace

bool transpose(int device, IntSpan shape, const kernel::StridedTarget& out,
               const kernel::StridedSource& in, IntSpan order) {
  const kernel::StridedLoop<2> loop(shape, {out.strides, in.strides}, 2, order);
  const auto bytes = static_cast<int64_t>(size_of(out.dtype));
  const int last = loop.ndim - 1;
  if (loop.strides[0][last] != bytes || loop.strides[1][last] == bytes ||
      loop.sizes[last] < kLeast || loop.ndim - 2 > device::kTransposeDims)
    return false;
  int along = -1;  // the source's fastest dimension
  for (int d = 0; d < last; ++d)
    if (loop.strides[1][d] == bytes && loop.sizes[d] >= kLeast) along = d;
  if (along < 0) return false;
  device::TransposeArguments args{};
  args.in = in.data;
  args.out = out.data;
  args.rows = loop.sizes[along];
  args.columns = loop.sizes[last];
  args.in_column = loop.strides[1][last];
  args.out_row = loop.strides[0][along];
  const bool large = bytes <= 4 && std::min(args.rows, args.columns) > kSmallTile;
  const int tile = large ? 2 * kSmallTile : kSmallTile;
  const int64_t row_tiles = blocks_for(args.rows, tile);
  int64_t blocks = row_tiles * blocks_for(args.columns, tile);
  if (blocks > INT32_MAX) return false;
  args.row_tiles = static_cast<unsigned>(row_tiles);
  args.all_tiles = static_cast<unsigned>(blocks);
  for (int d = 0; d < last; ++d) {
    if (d == along) continue;
    args.sizes[args.dims] = loop.sizes[d];
    args.in_strides[args.dims] = loop.strides[1][d];
    args.out_strides[args.dims++] = loop.strides[0][d];
    blocks *= loop.sizes[d];
  }
  if (blocks > INT32_MAX) return false;
  use(device);
  launch(device, tile_kernel.on(device, of_size(out.dtype), tile, message_of(tile).c_str()),
         {static_cast<unsigned>(blocks)}, 256, args);
  return true;
}

}  // namespace fb::cuda
