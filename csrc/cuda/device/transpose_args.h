// What the kernel of csrc/cuda/transpose.cpp is given.
#pragma once

namespace fb::device {

inline constexpr int kTransposeDims = 8;
// A row of the source becomes a column of the target. Strides are in bytes.
struct TransposeArguments {
  const void* in;
  void* out;
  long long rows, columns;        // of the target; neighbours in a column are so in the source
  long long in_column, out_row;   // from a column to the next, from a row to the next
  unsigned row_tiles, all_tiles;  // along a column; of one matrix
  int dims;                       // of the other dimensions
  long long sizes[kTransposeDims];
  long long in_strides[kTransposeDims];
  long long out_strides[kTransposeDims];
};

}  // namespace fb::device
