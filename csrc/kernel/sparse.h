// Positions of the blocks of sparse tensors. See Note [Sparse tensors] in autograd/sparse.h.
#pragma once

#include <cstdint>

#include "core/dims.h"
#include "kernel/slot.h"

namespace fb::kernel {

// A position is a number that counts along the sparse dimensions in their order; coordinates are
// arrays (dimensions, n). Sizes are in the host's memory.
struct Sparse {
  Slot<void(const int64_t* coordinates, int64_t n, IntSpan sizes, int64_t* positions)>
      number_positions;
  // The inverse.
  Slot<void(const int64_t* positions, int64_t n, IntSpan sizes, int64_t* coordinates)>
      locate_positions;
  // The distinct ones of n positions below `limit`, sorted, to `distinct`, which has room for n,
  // and for each position its number among them to `groups`; returns how many there are.
  Slot<int64_t(const int64_t* positions, int64_t n, int64_t limit, int64_t* distinct,
               int64_t* groups)>
      group_positions;
  // Where the elements of two lists go if they are concatenated or, by_position, merged as if they
  // were sorted, with equal ones in one position; returns the number of positions.
  Slot<int64_t(const int64_t* a, int64_t a_count, const int64_t* b, int64_t b_count,
               bool by_position, int64_t* of_a, int64_t* of_b)>
      merge_positions;
  // Which of n positions are in a sorted list without repetitions: their numbers to `of_positions`
  // and those in the list to `of_list`, which have room for n; returns how many there are.
  Slot<int64_t(const int64_t* positions, int64_t n, const int64_t* list, int64_t count,
               int64_t* of_positions, int64_t* of_list)>
      match_positions;
};

}  // namespace fb::kernel
