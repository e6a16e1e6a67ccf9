// Distances between all pairs of rows, in parallel over the rows.
#include "cpu/cdist.h"

#include <algorithm>

#include "cpu/threads.h"

namespace fb::cpu {

void pairwise_distances(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth,
                        const void* a, const void* b, double p, void* out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t grain = std::max<int64_t>(kGrain / (columns * depth + 1), 1);
    parallel_for(batch * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        FB_KERNEL(row_distances<T>)
        ({columns, depth, static_cast<const T*>(a) + r * depth,
          static_cast<const T*>(b) + r / rows * columns * depth, p,
          static_cast<T*>(out) + r * columns});
      }
    });
  });
}

}  // namespace fb::cpu
