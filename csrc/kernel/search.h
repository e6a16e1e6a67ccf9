// Binary search in sorted rows.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct SearchArgs {
  DType dtype;            // real, of both the sequences and the values
  const void* sequences;  // rows of `length` sorted elements, or one for all values
  const int64_t* sorter;  // null, or the order that sorts each sequence
  const void* values;     // `per_row` for each row
  int64_t rows;           // of values
  int64_t per_row;
  int64_t length;
  bool shared;  // one sequence serves all rows
  bool right;   // behind equal elements rather than before
};

struct Search {
  // out[i] = the number of elements of its sequence before value i.
  Slot<void(const SearchArgs& args, int64_t* out)> search_sorted;
};

}  // namespace fb::kernel
