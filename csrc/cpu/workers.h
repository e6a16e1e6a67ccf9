// The threads that help a calling thread with its loop.
//
// Note [Workers]: workers are started when they are first needed, spin for some microseconds after
// a job, as the next operator often follows at once, and then sleep in the kernel. A caller
// publishes a job, calls as many workers as the work pays for, and starts on it itself without
// waiting for anybody. A worker enters a job while it is open and leaves it when nothing is left to
// take; at the end the caller closes the job and waits for those that are inside, so that a worker
// that has not woken up by then costs nothing, and one that lost its processor costs the piece that
// it has taken. A worker that is called calls up to two others, unless what they would do is
// taken already: the caller pays for two wake-ups, however many threads there are.
//
// One job runs at a time. The words that threads wait on belong to the pool and live as long as the
// process: workers sleep on them while the process ends.
#pragma once

namespace fb::cpu {

// What several threads do together. `run` is called by each of them, perhaps more than once, and
// may not throw.
struct Job {
  void (*run)(void* context, int thread);      // until nothing is left to take
  bool (*is_left)(void* context, int thread);  // what this thread would begin with
  void* context;
  int threads;    // at most, with the calling one, which is number 0
  bool is_large;  // worth waking sleepers for, even if no other job has come shortly before
};

// Runs a job on the calling thread and on workers. Returns false, and does nothing, while another
// thread has the workers.
bool run_with_workers(const Job& job);

// Calls f on every thread that the pool has, the calling one included, and waits for all.
void on_all_threads(void (*f)());

inline constexpr int kMostThreads = 256;

// How many threads of a job can run at the same time; more of them would only take turns. Two at
// least, so that who asks for threads on one processor gets another one. The system is asked when
// the pool is first used, and again on request, as affinity may have changed.
int useful_threads();
void look_for_processors();

// Whether this thread is working on a job now.
bool in_job();

}  // namespace fb::cpu
