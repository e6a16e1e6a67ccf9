// How many threads compute, and loops that they share.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/blocking.h"

namespace fb::cpu {

// Starts at min(CPU affinity, cgroup quota). Of more threads than processors only as many work as
// can run at once.
int num_threads();
void set_num_threads(int count);
int default_num_threads();

// Elements a thread should have before a second one is worth waking (about 10 us of memory-bound
// work).
inline constexpr int64_t kGrain = 32768;

namespace detail {
using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
void run_parallel(int64_t n, int64_t grain, RangeFn fn, void* context);
bool in_parallel();
}  // namespace detail

// Calls f(begin, end) for ranges that cover [0, n), on as many threads as have at least `grain` to
// do each: choose it by cost, about 10 us. A thread may get several ranges of its own even share,
// each of `grain` or more, or of another's that is late. The boundaries depend on the thread count;
// a reduction that must not, cuts its own fixed chunks and calls this with n = number of chunks.
// Small work stays on the calling thread, as does a loop within a loop. What f throws reaches the
// caller.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  if (n <= grain) {
    f(int64_t{0}, n);
    return;
  }
  using Fn = std::remove_reference_t<F>*;
  Fn address = &f;
  detail::run_parallel(
      n, grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Fn>(context))(begin, end); },
      address);
}

}  // namespace fb::cpu
