// The number of threads, and a loop that is shared among them.
#include "cpu/threads.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>

#include "cpu/thread_limits.h"
#include "cpu/workers.h"

namespace fb::cpu {
namespace {

std::atomic<int>& thread_count() {
  static std::atomic<int> count = default_num_threads();
  return count;
}

}  // namespace

int default_num_threads() {
  // Who asks for a number gets it, also one that the machine does not have.
  if (const int wanted = requested_threads().count; wanted > 0) return wanted;
  const int allowed = static_cast<int>(std::ceil(cgroup_quota()));
  return std::max(allowed > 0 ? std::min(affinity_count(), allowed) : affinity_count(), 1);
}

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int count) {
  thread_count() = std::max(count, 1);
  look_for_processors();
}

namespace detail {
namespace {

// A loop over [begin, end) that several threads run together. Each has a share of it, which it
// takes in chunks; who has done its own takes chunks of the others.
class Team {
 public:
  Team(RangeFn fn, void* context, int64_t begin, int64_t end, int64_t grain, int64_t most)
      : fn_(fn), context_(context) {
    const int64_t pieces = (end - begin + grain - 1) / grain;
    threads_ = static_cast<int>(std::min(most, pieces));
    // What cannot be cut further may be of any size.
    is_large_ = grain == 1 || pieces >= kLargeJob;
    // Even shares, but no thread starts in the middle of another one's cache line.
    const int64_t line = grain >= 64 ? 64 : 1;
    const int64_t share = round_up((end - begin + threads_ - 1) / threads_, line);
    const int64_t least = grain == 1 ? 1 : kChunks * grain;
    chunk_ = round_up(std::max(least, (share + kChunks - 1) / kChunks), line);
    for (int i = 0; i < threads_; ++i) {
      shares_[i].next = std::min(begin + i * share, end);
      shares_[i].end = std::min(begin + (i + 1) * share, end);
    }
  }

  int64_t chunk() const { return chunk_; }

  // False where another thread has the workers; nothing is done then.
  bool run() {
    const auto work = [](void* team, int thread) { static_cast<Team*>(team)->work(thread); };
    const auto is_left = [](void* team, int thread) {
      return static_cast<Team*>(team)->shares_[thread].is_left();
    };
    if (!run_with_workers({work, is_left, this, threads_, is_large_})) return false;
    if (error_) std::rethrow_exception(error_);
    return true;
  }

 private:
  // Without a constructor: most of them are never touched.
  struct alignas(64) Share {
    int64_t next, end;

    std::atomic_ref<int64_t> shared() { return std::atomic_ref(next); }
    bool is_left() { return shared().load(std::memory_order_relaxed) < end; }
    int64_t take(int64_t count) { return shared().fetch_add(count, std::memory_order_relaxed); }
  };

  static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

  void work(int thread) {
    for (int i = 0; i < threads_; ++i) {
      Share& share = shares_[(thread + i) % threads_];
      while (share.is_left()) {
        const int64_t begin = share.take(chunk_);
        if (begin < share.end) run_chunk(begin, std::min(begin + chunk_, share.end));
      }
    }
  }

  // Of several errors the caller gets the first in the order of the loop, as on one thread.
  void run_chunk(int64_t begin, int64_t end) {
    if (begin > first_error_.load(std::memory_order_relaxed)) return;
    try {
      fn_(context_, begin, end);
    } catch (...) {
      const std::lock_guard guard(lock_);
      if (begin > first_error_) return;
      first_error_ = begin;
      error_ = std::current_exception();
    }
  }

  // A thread that loses its processor delays the others by one of so many parts of its share, or by
  // so many pieces of 10 us: many kernels prepare something for each chunk.
  static constexpr int64_t kChunks = 4;
  // Of about 10 us each: a thread is 5 to 50 us late if it has to be woken, and delays the one that
  // wakes it by 5.
  static constexpr int64_t kLargeJob = 8;

  RangeFn fn_;
  void* context_;
  int threads_;
  bool is_large_;
  int64_t chunk_;
  std::mutex lock_;
  std::atomic<int64_t> first_error_{std::numeric_limits<int64_t>::max()};
  std::exception_ptr error_;
  Share shares_[kMostThreads];
};

}  // namespace

bool in_parallel() { return in_job(); }

void run_parallel(int64_t n, int64_t grain, RangeFn fn, void* context) {
  BlockingRegion unlocked(true);
  const int64_t most = std::min(num_threads(), useful_threads());
  for (int64_t begin = 0; begin < n;) {
    if (n - begin <= grain || most == 1 || in_job()) return fn(context, begin, n);
    Team team(fn, context, begin, n, grain, most);
    if (team.run()) return;
    // Another thread has the workers. They are asked again after each chunk.
    const int64_t end = std::min(begin + team.chunk(), n);
    fn(context, begin, end);
    begin = end;
  }
}

}  // namespace detail
}  // namespace fb::cpu
