// Signals of worker processes.
#include "core/worker_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>

namespace fb {
namespace {

std::atomic<pid_t> expected_parent{0};

void do_nothing(int) {}

// The system also sends the signal when only the thread that forked has ended.
void exit_if_orphan(int) {
  if (getppid() != expected_parent.load()) _exit(1);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void outlive_interrupts() { handle(SIGINT, do_nothing); }

void end_with_parent(pid_t parent) {
  expected_parent = parent;
  const int signal = SIGRTMAX - 1;  // one that programs hardly use
  handle(signal, exit_if_orphan);
  prctl(PR_SET_PDEATHSIG, signal);
  if (getppid() != parent) _exit(1);  // the parent ended before the line above
}

}  // namespace fb
