// The alternate stack of a thread: see Note [Signals in kernels].
#include "cpu/signal_stack.h"

#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace fb::cpu {
namespace {

// The frame of a handler alone takes 3 KB with AVX-512 and 11 KB with the registers of AMX. The
// system commits pages when the first signal comes; the lowest is a guard page.
constexpr size_t kBytes = size_t{1} << 16;
constexpr size_t kGuard = 1 << 12;

void* stack_in(void* memory) { return static_cast<char*>(memory) + kGuard; }

class SignalStack {
 public:
  SignalStack() {
    stack_t present = {};
    if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return;
    void* memory = mmap(nullptr, kGuard + kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;  // most programs never get a signal
    mprotect(memory, kGuard, PROT_NONE);
    stack_t own = {};
    own.ss_sp = stack_in(memory);
    own.ss_size = kBytes;
    if (sigaltstack(&own, nullptr) == 0)
      memory_ = memory;
    else
      munmap(memory, kGuard + kBytes);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t present = {};
    // Code that has installed another stack may restore this one.
    if (sigaltstack(nullptr, &present) != 0 || present.ss_sp != stack_in(memory_)) return;
    stack_t off = {};
    off.ss_flags = SS_DISABLE;
    if (sigaltstack(&off, nullptr) == 0) munmap(memory_, kGuard + kBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

void ensure_signal_stack() noexcept {
  thread_local const SignalStack stack;
  static_cast<void>(stack);
}

}  // namespace fb::cpu
