// The workers, the job that they are called to, and how threads wait. See Note [Workers].
#include "cpu/workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>

#include "cpu/thread_limits.h"

namespace fb::cpu {
namespace {

using Word = std::atomic<uint32_t>;
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free, "what a futex is");

// Nanoseconds.
using Time = int64_t;
// Operators follow each other by a few to some tens of microseconds. To wake a thread takes 5 us,
// and 50 where the processor of a virtual machine has to be woken as well.
constexpr Time kSpin = 100'000;
// A thread that does not run for so long has lost its processor: there are more threads than
// processors. Then nobody spins for a while, and small jobs wake nobody.
constexpr Time kLost = 500'000;
constexpr Time kCrowded = 5'000'000;

Time now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void sleep_while(Word& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake_sleeper(Word& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

std::atomic<int>& processors() {
  static std::atomic<int> count = affinity_count();
  return count;
}

std::atomic<Time> crowded_until{0};

bool is_crowded(Time time) { return time < crowded_until.load(std::memory_order_relaxed); }
void note_crowd(Time time) { crowded_until.store(time + kCrowded, std::memory_order_relaxed); }

using Processor = std::atomic<int>;

// Whether the condition came true while it was worth a processor to wait for it. Who runs on the
// processor of the thread that it waits for keeps that from running; `leave` may move it away.
template <class Condition, class Leave>
bool spin_until(const Processor& other, Condition condition, Leave leave) {
  constexpr int kLooksAtOnce = 16;
  if (condition()) return true;
  if (processors().load(std::memory_order_relaxed) < 2) return false;
  Time time = now();
  for (const Time end = time + kSpin; time < end && !is_crowded(time);) {
    if (sched_getcpu() == other.load(std::memory_order_relaxed) && !leave(time)) break;
    for (int i = 0; i < kLooksAtOnce; ++i) {
      pause_briefly();
      if (condition()) return true;
    }
    const Time before = time;
    time = now();
    if (time - before > kLost) note_crowd(time);
  }
  return condition();
}

// Moves this thread to another processor. The system does not by itself while one of two threads
// that share a processor sleeps most of the time.
void leave_processor() {
  const pid_t process = getpid();
  cpu_set_t before, all, after;
  if (sched_getaffinity(process, sizeof(before), &before) != 0) return;
  if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2) return;
  // Somebody binds the process to other processors, all of its threads from the first on, and comes
  // to this one now; or has bound this one alone.
  if (!CPU_EQUAL(&all, &before)) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<size_t>(sched_getcpu()), &others);
  sched_setaffinity(0, sizeof(others), &others);
  sched_setaffinity(0, sizeof(all), &all);
  // The same meanwhile, which the line above may have undone.
  while (sched_getaffinity(process, sizeof(after), &after) == 0 && !CPU_EQUAL(&before, &after)) {
    sched_setaffinity(0, sizeof(after), &after);
    before = after;
  }
}

thread_local bool working = false;

// Lets threads in while it is open. The owner opens and closes it.
class Gate {
 public:
  void open() {
    entered_.store(kNowhere, std::memory_order_relaxed);
    word_.store(kOpen, std::memory_order_release);
  }

  bool enter() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    while (word & kOpen)
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire)) {
        entered_.store(sched_getcpu(), std::memory_order_relaxed);
        return true;
      }
    return false;
  }

  void leave() {
    if (word_.fetch_sub(1, std::memory_order_acq_rel) == (kWaiting | 1)) wake_sleeper(word_);
  }

  // Waits for all that are inside. `began`: when it was opened.
  void close(Time began) {
    word_.fetch_and(~kOpen, std::memory_order_acq_rel);
    if (spin_until(
            entered_, [&] { return word_.load(std::memory_order_acquire) == 0; },
            [](Time) { return false; }))
      return;
    const Time shut = now();
    uint32_t inside = word_.fetch_or(kWaiting, std::memory_order_acq_rel) | kWaiting;
    while (inside != kWaiting) {
      sleep_while(word_, inside);
      inside = word_.load(std::memory_order_acquire);
    }
    // Pieces are of about the same size: who takes longer than all that came before does not run.
    const Time end = now();
    if (end - shut > kLost && end - shut > shut - began) note_crowd(end);
  }

 private:
  static constexpr uint32_t kOpen = 1u << 31;
  static constexpr uint32_t kWaiting = 1u << 30;  // the owner sleeps; the rest counts who is inside
  static constexpr int kNowhere = -1;
  Word word_{0};
  Processor entered_{kNowhere};  // of the last that came in
};

class alignas(64) Worker {
 public:
  bool is_running() const { return life_.load(std::memory_order_relaxed) == Life::kRunning; }

  bool is_awake() const {
    return is_running() && state_.load(std::memory_order_relaxed) != kAsleep;
  }

  // Always by the same thread, which has entered the job.
  void call(int number) {
    const Life life = life_.load(std::memory_order_relaxed);
    if (life == Life::kNone)
      start(number);
    else if (life == Life::kRunning &&
             state_.exchange(kCalled, std::memory_order_acq_rel) == kAsleep)
      wake_sleeper(state_);
  }

  void wait_for_call(const Processor& caller) {
    const bool called = spin_until(
        caller, [&] { return state_.load(std::memory_order_relaxed) == kCalled; },
        [&](Time time) {
          // Where the others are busy too, it comes back soon.
          const bool helps = leave(time, kCrowded);
          if (!helps) note_crowd(time);
          return helps;
        });
    uint32_t awake = kAwake;
    if (!called && state_.compare_exchange_strong(awake, kAsleep, std::memory_order_relaxed)) {
      while (state_.load(std::memory_order_relaxed) == kAsleep) sleep_while(state_, kAsleep);
      // The system may wake it beside the caller, where the two would take turns.
      if (sched_getcpu() == caller.load(std::memory_order_relaxed)) leave(now(), kLost);
    }
    state_.exchange(kAwake, std::memory_order_acq_rel);
  }

 private:
  enum class Life { kNone, kRunning, kRefused };  // refused: the system allows no more threads

  void start(int number);

  // Goes to another processor, unless it did so shortly before.
  bool leave(Time time, Time least) {
    if (time - left_ < least) return false;
    left_ = time;
    leave_processor();
    return true;
  }

  static constexpr uint32_t kAwake = 0, kCalled = 1, kAsleep = 2;
  Word state_{kAwake};
  Time left_ = 0;  // when it last left its processor to the caller
  std::atomic<Life> life_{Life::kNone};
};

struct Pool {
  alignas(64) std::atomic<bool> taken{false};
  alignas(64) Gate gate;
  Job job{};  // changes while the gate is shut and nobody inside
  bool may_wake = false;
  Time last_end = 0;
  alignas(64) Processor owner{0};  // of the thread whose job it is; workers read it while they spin
  Worker workers[kMostThreads];

  bool try_take() {
    return !taken.load(std::memory_order_relaxed) &&
           !taken.exchange(true, std::memory_order_acquire);
  }
  void give_back() { taken.store(false, std::memory_order_release); }

  // Threads that this one is to call.
  void call_others(int caller) {
    const int last = std::min(2 * caller + 2, job.threads - 1);
    for (int i = 2 * caller + 1; i <= last; ++i)
      if ((may_wake || workers[i].is_awake()) && job.is_left(job.context, i)) workers[i].call(i);
  }

  [[noreturn]] void work(int number) {
    working = true;
    for (;; workers[number].wait_for_call(owner)) {
      if (!gate.enter()) continue;
      if (number < job.threads) {
        call_others(number);
        job.run(job.context, number);
      }
      gate.leave();
    }
  }

  void run(const Job& given) {
    job = given;
    const Time began = now();
    may_wake = job.is_large || (began - last_end < kSpin && !is_crowded(began));
    const int here = sched_getcpu();
    if (owner.load(std::memory_order_relaxed) != here) owner.store(here, std::memory_order_relaxed);
    gate.open();
    working = true;
    call_others(0);
    job.run(job.context, 0);
    working = false;
    gate.close(began);
    last_end = now();
  }
};

// Never destroyed: see Note [Workers].
alignas(Pool) std::byte memory_of_pool[sizeof(Pool)];

Pool& pool() {
  static Pool* const made = [] {
    // A child has none of the threads. Whatever they were doing, its own pool begins anew.
    pthread_atfork(nullptr, nullptr, [] { new (memory_of_pool) Pool; });
    return new (memory_of_pool) Pool;
  }();
  return *made;
}

// Signals of the process go to threads of the program, and what a thread does wrong to itself.
sigset_t signals_of_process() {
  sigset_t set;
  sigfillset(&set);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    sigdelset(&set, own);
  return set;
}

void* run_worker(void* number) {
  pthread_setname_np(pthread_self(), "flambeau");
  pool().work(static_cast<int>(reinterpret_cast<intptr_t>(number)));
}

void Worker::start(int number) {
  const sigset_t blocked = signals_of_process();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  void* const argument = reinterpret_cast<void*>(static_cast<intptr_t>(number));
  const int refused = pthread_create(&thread, &detached, run_worker, argument);
  life_.store(refused ? Life::kRefused : Life::kRunning, std::memory_order_relaxed);
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A job that every thread has to do once: the caller waits for those that have not come yet.
struct Everyone {
  void (*f)();
  std::atomic<int> left;
  bool is_done[kMostThreads] = {};  // of each thread, which may be called twice

  static void run(void* context, int thread) {
    auto& all = *static_cast<Everyone*>(context);
    if (all.is_done[thread]) return;
    all.is_done[thread] = true;
    all.f();
    if (all.left.fetch_sub(1) == 1) all.left.notify_one();
    if (thread != 0) return;
    for (int left = all.left; left != 0; left = all.left) all.left.wait(left);
  }
  static bool is_left(void*, int thread) { return pool().workers[thread].is_running(); }
};

}  // namespace

int useful_threads() {
  return std::clamp(processors().load(std::memory_order_relaxed), 2, kMostThreads);
}

void look_for_processors() { processors().store(affinity_count(), std::memory_order_relaxed); }

bool in_job() { return working; }

bool run_with_workers(const Job& job) {
  Pool& all = pool();
  if (!all.try_take()) return false;
  all.run(job);
  all.give_back();
  return true;
}

void on_all_threads(void (*f)()) {
  Pool& all = pool();
  while (!all.try_take()) usleep(50);
  Everyone everyone{f, 1, {}};
  for (const Worker& worker : all.workers) everyone.left += worker.is_running();
  all.run({Everyone::run, Everyone::is_left, &everyone, kMostThreads, true});
  all.give_back();
}

}  // namespace fb::cpu
