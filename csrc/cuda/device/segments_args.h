// What the kernels of csrc/cuda/segments.cpp are given.
#pragma once

#include "cuda/device/index_dims.h"

namespace fb::device {

// As kernel::ScatterMode.
enum class ScatterMode : int { kStore, kAdd, kMultiply, kMin, kMax };

// Rows of values, each for a key. Those of one key are joined, in order, into a row of the target.
struct SegmentArguments {
  const void* keys;  // rising: int64, or int32 where not `wide`
  bool wide;
  const unsigned* order;  // the number of the row that each key is for
  long long n;
  long long limit;           // keys from here on are left out
  const long long* sources;  // the row of the values by number; null: the number itself
  const void* values;
  const void* factors;  // by number, of the type computed with; null: 1
  void* target;
  // Elements of a row: some blocks of `after_size` neighbours.
  long long width, after_size;
  long long value_row, value_block;  // steps, in elements
  IndexDims at;                      // where a key is in the target
  IndexDims before, after;           // where blocks are, and elements within
  // Keys are cut into chunks; a row of sums of a segment that others than this chunk have a part
  // in: of the first segment, then of the last one.
  long long chunk, chunks;
  void* partial;
  int columns;      // elements of a row side by side in a block, a power of two
  long long tiles;  // of that many columns
  int lanes;        // that add up the parts of a segment
};

}  // namespace fb::device
