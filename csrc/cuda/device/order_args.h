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

}  // namespace fb::device
