// Sequences of numbers.
#include "cpu/create.h"

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

}  // namespace fb::cpu
