// What the kernels of csrc/cuda/sort.cpp are given.
#pragma once

#include "cuda/device/order_args.h"

namespace fb::device {

// Rows that fit into a block's shared memory.
inline constexpr int kShortRow = 2048;

struct ShortRowsArguments {
  const void* in;
  void* values;            // null: not wanted
  long long* indices;      // null: not wanted
  const long long* names;  // null, or what to write for each position of a row
  const long long* ranks;  // null, or the only element of each row that is wanted
  long long rows;
  int n, kept;
  int width;       // n as a power of two
  int block_rows;  // of each block: width * block_rows elements
  bool descending;
};

// Finds the element of a rank in each row, and with it all those before: the keys' bytes are
// counted from the highest on, each among the keys that begin as the wanted one does.
struct SelectArguments {
  const void* in;
  void* values;  // `kept` of each row
  long long* indices;
  const long long* ranks;  // null: `rank`
  unsigned* counts;        // [pass][row][digit]
  long long* before;       // [row][part]: of elements before the wanted key, and of its equals
  long long* equals;
  long long rows, n, rank, kept, part_length;
  int parts;  // of a row
  int pass, passes;
  bool descending;
  bool single;  // only the element of that rank is written
};

struct ModeArguments {
  const void* sorted;
  const long long* positions;
  void* values;
  long long* indices;
  unsigned long long* best;  // of each row: a run's length above the inverted place of its end
  long long rows, n, part_length;
  int parts;  // of a row
};

struct RanksArguments {
  long long* ranks;
  long long rows, n;
  bool ignore_nan;
};

}  // namespace fb::device
