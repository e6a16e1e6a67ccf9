// Sequences of numbers.
#include "cpu/create.h"

#include <algorithm>

#include "cpu/threads.h"

namespace fb::cpu {

void arange(const Tensor& out, const Scalar& start, const Scalar& step) {
  const auto run = FB_KERNEL(arange_run);
  parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    run(out.dtype(), begin, end, start, step, out.data());
  });
}

void linspace(const Tensor& out, const Scalar& start, const Scalar& end) {
  const auto run = FB_KERNEL(linspace_run);
  parallel_for(out.numel(), kGrain, [&](int64_t from, int64_t to) {
    run(out.dtype(), from, to, out.numel(), start, end, out.data());
  });
}

void logspace(const Tensor& out, const Scalar& start, const Scalar& end, double base) {
  const auto run = FB_KERNEL(logspace_run);
  parallel_for(out.numel(), kGrain / 16, [&](int64_t from, int64_t to) {
    run(out.dtype(), from, to, out.numel(), start, end, base, out.data());
  });
}

void triangle_indices(const Triangle& triangle, int64_t* rows, int64_t* columns) {
  using Wide = __int128;  // the sum of row and diagonal may exceed 64 bits
  for (int64_t r = triangle.first_row; r < triangle.last_row; ++r) {
    const Wide at = Wide{r} + triangle.diagonal;
    const auto begin = triangle.lower ? 0 : static_cast<int64_t>(std::max<Wide>(at, 0));
    const auto end = triangle.lower ? static_cast<int64_t>(std::min<Wide>(at + 1, triangle.columns))
                                    : triangle.columns;
    for (int64_t c = begin; c < end; ++c) *rows++ = r, *columns++ = c;
  }
}

}  // namespace fb::cpu
