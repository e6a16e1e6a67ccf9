// The thread pool's size and the parallel loop.
#include "cpu/threads.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

namespace fb::cpu {
namespace {

int affinity_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return omp_get_num_procs();
  return CPU_COUNT(&set);
}

// The CPU quota of this process's control group, rounded up; 0 where there is none.
int cgroup_quota() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period) {
    if (quota == "max" || period <= 0) return 0;
    return static_cast<int>(std::ceil(std::stod(quota) / period));
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double value = 0;
  if (v1_quota >> value && v1_period >> period && value > 0 && period > 0)
    return static_cast<int>(std::ceil(value / period));
  return 0;
}

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
  int count = affinity_count();
  if (const int quota = cgroup_quota(); quota > 0) count = std::min(count, quota);
  if (const char* wanted = std::getenv("OMP_NUM_THREADS")) {
    if (const int n = std::atoi(wanted); n > 0) count = std::min(count, n);
  }
  return std::max(count, 1);
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
  std::exception_ptr error;  // an exception may not leave a parallel region by itself
#pragma omp parallel num_threads(threads)
  {
    const int64_t begin = omp_get_thread_num() * each;
    try {
      if (begin < n) fn(context, begin, std::min(n, begin + each));
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace fb::cpu
