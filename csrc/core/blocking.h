// Lets long kernels run without the interpreter's lock, without core knowing that there is an
// interpreter.
#pragma once

#include <atomic>

namespace fb {

// Set once by the Python binding; null while the core is used from C++ alone.
struct BlockingHooks {
  void* (*enter)() =
      nullptr;  // releases the lock if this thread holds it; returns what leave needs
  void (*leave)(void*) = nullptr;  // takes it again
};
inline BlockingHooks blocking_hooks;
// How many kernels run without the lock now: memory that they may read must not be given back.
inline std::atomic<int> blocking_regions{0};

// While alive, other Python threads may run. Kernels inside must not touch Python objects.
class BlockingRegion {
 public:
  explicit BlockingRegion(bool worthwhile) {
    if (!worthwhile || !blocking_hooks.enter) return;
    ++blocking_regions;  // before another thread can take the lock and check
    token_ = blocking_hooks.enter();
    if (!token_) --blocking_regions;
  }
  ~BlockingRegion() {
    if (!token_) return;
    blocking_hooks.leave(token_);
    --blocking_regions;
  }
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  void* token_ = nullptr;
};

}  // namespace fb
