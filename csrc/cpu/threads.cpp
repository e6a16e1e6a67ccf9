// The thread pool's size and the parallel loop.
#include "cpu/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>

#include "cpu/openmp.h"
#include "cpu/thread_limits.h"
#include "cpu/tsan.h"

namespace fb::cpu {
namespace {

std::atomic<bool> forked{false};

std::atomic<int>& thread_count() {
  static std::atomic<int> count = [] {
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    return default_num_threads();
  }();
  return count;
}

}  // namespace

int default_num_threads() {
  // Who asks for a number gets it, also one that the machine does not have.
  if (const int wanted = requested_threads(); wanted > 0) return wanted;
  const int allowed = static_cast<int>(std::ceil(cgroup_quota()));
  return std::max(allowed > 0 ? std::min(affinity_count(), allowed) : affinity_count(), 1);
}

int num_threads() {
  const int count = thread_count().load(std::memory_order_relaxed);
  return forked.load(std::memory_order_relaxed) ? 1 : count;
}

void set_num_threads(int count) {
  thread_count() = std::max(count, 1);
  omp_set_num_threads(std::max(count, 1));  // what oneDNN asks
}

namespace detail {
namespace {

// A loop that several threads run together.
struct Team {
  RangeFn fn;
  void* context;
  int64_t n;
  int64_t each;  // elements of a thread
  std::mutex lock;
  std::exception_ptr error;  // one of those that were thrown: none may leave a parallel region

  void run_share() {
    tsan_acquire(this);
    const int64_t begin = omp_get_thread_num() * each;
    try {
      if (begin < n) fn(context, begin, std::min(n, begin + each));
    } catch (...) {
      const std::lock_guard<std::mutex> guard(lock);
      error = std::current_exception();
    }
    tsan_release(this);
  }
};

}  // namespace

bool in_parallel() { return omp_in_parallel(); }

void run_parallel(int64_t n, int64_t grain, RangeFn fn, void* context) {
  BlockingRegion unlocked(true);
  const int64_t pieces = (n + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<int64_t>(num_threads(), pieces));
  if (threads <= 1 || in_parallel()) {
    fn(context, 0, n);
    return;
  }
  // Even shares, but no thread starts in the middle of another one's cache line.
  const int64_t line = grain >= 64 ? 64 : 1;
  const int64_t each = ((n + threads - 1) / threads + line - 1) / line * line;
  Team team{fn, context, n, each, {}, {}};
  tsan_release(&team);
  GOMP_parallel([](void* data) { static_cast<Team*>(data)->run_share(); }, &team,
                static_cast<unsigned>(threads), 0);
  tsan_acquire(&team);
  if (team.error) std::rethrow_exception(team.error);
}

}  // namespace detail
}  // namespace fb::cpu
