// The grid of a product: see gemm_grid.h.
#include "cpu/gemm_grid.h"

namespace fb::cpu {
namespace {

// The time until the last thread is done, for a depth of one: rounds of parts, whose rows and
// columns are packed or fetched before they are multiplied.
int64_t cost(const GemmGrid& grid, const GemmCall& call, int64_t threads, int64_t times) {
  // Packing an element costs as much as so many multiplications.
  constexpr int64_t kPacking = 16;
  return parts_of(call.batch * grid.parts() * times, threads) * (grid.most_rows(call) + kPacking) *
         (grid.most_columns(call) + kPacking);
}

}  // namespace

GemmGrid grid_of(const GemmCall& call, int64_t threads, int64_t times) {
  GemmGrid best;
  int64_t least = cost(best, call, threads, times);
  const int64_t most_down = std::min(threads, parts_of(call.m, GemmGrid::kRowUnit));
  for (int64_t down = 1; down <= most_down; ++down) {
    const int64_t most = std::min(threads / down, parts_of(call.n, GemmGrid::kColumnUnit));
    for (int64_t across = 1; across <= most; ++across) {
      const GemmGrid grid{down, across};
      if (const int64_t found = cost(grid, call, threads, times); found < least) {
        least = found;
        best = grid;
      }
    }
  }
  return best;
}

}  // namespace fb::cpu
