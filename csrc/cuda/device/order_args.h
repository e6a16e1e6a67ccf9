// What the kernels of csrc/cuda/order.cpp are given, and what others share with them.
#pragma once

namespace fb::device {

// Elements cut into consecutive parts, one for each block.
struct Parts {
  long long n;
  long long length;  // of each part but the last
  int count;
  long long* totals;  // of each part
};
inline constexpr int kMostParts = 1024;
inline constexpr long long kPartTile = 2048;  // what a block takes at once

struct SumsArguments {
  Parts parts;
  const long long* in;
  long long* out;  // n + 1 of them
};

// One pass of a radix sort of rows, over 8 bits.
struct RadixArguments {
  const void* keys;
  const unsigned* positions;  // in the row, of each key; null: in order
  void* keys_out;             // null: not wanted
  unsigned* positions_out;    // null in the last pass
  long long* indices;         // positions for the caller, in the last pass; null: not wanted
  const long long* names;     // null, or what the last pass writes for each position of a row
  long long* counts;          // [row][digit][part], sums before it in the second kernel
  long long n;                // of a row
  long long kept;             // how many of each row the last pass writes
  long long part_length;
  int parts;  // of a row
  int shift;
  bool descending, last;
};

}  // namespace fb::device
