// Images of bytes: resizing and lookup tables.
//
// Note [Sums of bytes]: an image of bytes is resized in integers, as in Pillow and PyTorch: along
// the rows first, then along the columns, with bytes in between. A weight is an integer multiple of
// 2^-bits, so results do not depend on the order of the additions, and the same plan gives exactly
// the same bytes on every machine. PyTorch uses as many bits as fit weights into 16 bits, Pillow
// always uses 22.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/resample.h"
#include "kernel/slot.h"

namespace fb::kernel {

inline constexpr int kPillowBits = 22;

// One side of an image: output o is the sum over k < 2 pairs of a weight times the input at
// first[o] + k. All outputs have the same number of terms, some of weight 0, as a loop of constant
// length is predicted well; the last term may be one position beyond the input.
//
// Processors multiply and add pairs of 16 bits, so weights are stored in pairs: pair k of output o
// is weight[(o * pairs + k) * limbs], the first of the two in its lower half. Weights of more bits
// have two limbs, of which the second counts 2^-11 of the first.
struct ByteSums {
  static constexpr int kLimbBits = 11;

  int64_t in = 1, out = 1;
  int64_t pairs = 1;
  int limbs = 1;
  int bits = 1;           // of a weight after the point
  bool identity = false;  // every output is the input at its own position
  std::vector<int32_t> first, weight;
};

// The same sums with rounded weights. Terms of a row must be adjacent. Without `bits`, as many as
// PyTorch uses.
ByteSums in_integers(const AxisMap& map, int bits = 0);

// Images of planes of rows of pixels of `inner` bytes. The strides (in bytes) may be anything,
// except that the pixels of a row are adjacent. The result has no gaps. The sums are in the host's
// memory.
struct ByteResizePlan {
  int64_t images = 1, image_step = 0;
  int64_t planes = 1, plane_step = 0;
  int64_t row_step = 0, inner = 1;
  ByteSums height, width;
};

// Bytes with any strides, and a table of 256 entries for each channel, or (table_step 0) one for
// all. The result is contiguous (images, channels, height, width).
struct ByteMapPlan {
  int64_t images = 1, image_step = 0;
  int64_t channels = 1, channel_step = 0;
  int64_t height = 1, row_step = 0;
  int64_t width = 1, step = 1;
  size_t entry_bytes = 1;
  int64_t table_step = 0;
};

struct Pixels {
  Slot<void(const ByteResizePlan& plan, const uint8_t* in, uint8_t* out)> resize_bytes;
  // out[...] = table[channel][in[...]].
  Slot<void(const ByteMapPlan& plan, const uint8_t* in, const void* table, void* out)> map_bytes;
};

}  // namespace fb::kernel
