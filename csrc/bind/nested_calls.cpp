// Calls that may nest without limit: see Note [Stacks for nested calls].
#include "bind/nested_calls.h"

#include <utility>

#include "bind/python.h"
#include "core/error.h"

// Python 3.14 measures the stack by its address, and raises RecursionError before it ends. The
// thread sanitizer would have to know every stack.
#if defined(__GLIBC__) && PY_VERSION_HEX < 0x030E0000 && !defined(__SANITIZE_THREAD__)
#define FB_OWN_STACKS 1
#include <sys/mman.h>
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace fb::bind {
namespace {

constexpr int kCallsPerStack = 64;
constexpr int kMostCalls = 1 << 16;
constinit thread_local int depth = 0;

class Deeper {
 public:
  Deeper() { ++depth; }
  ~Deeper() { --depth; }
};

#if defined(FB_OWN_STACKS)

// Resets Python's own count of nested calls for its lifetime.
class FreshDepth {
 public:
  FreshDepth() : thread_(PyThreadState_Get()) {
#if PY_VERSION_HEX >= 0x030C0000
    used_ = thread_->py_recursion_limit - thread_->py_recursion_remaining;
    thread_->py_recursion_remaining = thread_->py_recursion_limit;
    native_ = thread_->c_recursion_remaining;
    if (depth == kCallsPerStack) all_native = native_;  // near enough: few are nested here
    thread_->c_recursion_remaining = all_native;
#elif PY_VERSION_HEX >= 0x030B0000
    used_ = thread_->recursion_limit - thread_->recursion_remaining;
    thread_->recursion_remaining = thread_->recursion_limit;
#else
    used_ = std::exchange(thread_->recursion_depth, 0);
#endif
  }
  ~FreshDepth() {
#if PY_VERSION_HEX >= 0x030C0000
    thread_->py_recursion_remaining = thread_->py_recursion_limit - used_;
    thread_->c_recursion_remaining = native_;
#elif PY_VERSION_HEX >= 0x030B0000
    thread_->recursion_remaining = thread_->recursion_limit - used_;
#else
    thread_->recursion_depth = used_;
#endif
  }
  FreshDepth(const FreshDepth&) = delete;
  FreshDepth& operator=(const FreshDepth&) = delete;

 private:
  PyThreadState* thread_;
  int used_;
#if PY_VERSION_HEX >= 0x030C0000
  int native_;
  static inline thread_local int all_native = 0;
#endif
};

// Memory that the system commits as it is used, with a guard page at its end.
class Stack {
 public:
  Stack()
      : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
    FB_CHECK_AS(ErrorKind::kOutOfMemory, memory_ != MAP_FAILED,
                "no memory for the stack of calls that are nested ", depth, " deep");
    mprotect(memory_, kGuard, PROT_NONE);
  }
  ~Stack() { munmap(memory_, kBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* begin() const { return memory_; }
  size_t bytes() const { return kBytes; }

 private:
  static constexpr size_t kBytes = size_t{8} << 20;  // the usual size of the main thread's
  static constexpr size_t kGuard = 1 << 16;
  void* memory_;
};

// One call on a stack of its own, and the switches there and back.
class Elsewhere {
 public:
  Elsewhere(void (*f)(void*), void* context) : f_(f), context_(context) {}

  void run() {
    getcontext(&there_);
    there_.uc_stack.ss_sp = stack_.begin();
    there_.uc_stack.ss_size = stack_.bytes();
    there_.uc_link = &here_;
    // makecontext passes arguments of type int only.
    const auto address = reinterpret_cast<uintptr_t>(this);
    makecontext(&there_, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    leave(&here_shadow_, stack_.begin(), stack_.bytes());
    swapcontext(&here_, &there_);
    arrive(here_shadow_, nullptr, nullptr);
  }

 private:
  static void enter(unsigned high, unsigned low) {
    const auto address = static_cast<uintptr_t>(high) << 32 | low;
    auto* self = reinterpret_cast<Elsewhere*>(address);
    const void* bottom = nullptr;
    size_t bytes = 0;
    arrive(nullptr, &bottom, &bytes);
    self->f_(self->context_);
    leave(nullptr, bottom, bytes);
  }

  // Tells the address sanitizer that the stack changes.
  static void leave([[maybe_unused]] void** shadow, [[maybe_unused]] const void* bottom,
                    [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(shadow, bottom, bytes);
#endif
  }
  static void arrive([[maybe_unused]] void* shadow, [[maybe_unused]] const void** bottom,
                     [[maybe_unused]] size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(shadow, bottom, bytes);
#endif
  }

  void (*f_)(void*);
  void* context_;
  Stack stack_;
  ucontext_t here_, there_;
  void* here_shadow_ = nullptr;
};

#endif

}  // namespace

void run_nested(void (*f)(void*), void* context) {
  FB_CHECK(depth < kMostCalls, "calls of backward are nested more than ", kMostCalls, " deep");
  const Deeper here;
#if defined(FB_OWN_STACKS)
  if (depth % kCallsPerStack == 0) {
    const FreshDepth fresh;
    return Elsewhere(f, context).run();
  }
#endif
  f(context);
}

}  // namespace fb::bind
