// What is done once in a process, by whichever thread comes first.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace fb {

// As std::once_flag and std::call_once, which keep their state in thread-local variables of the C++
// runtime. This module's thread-local variables lie in the loader's static space, and so would
// those of the runtime have to, for which there is no room where another library has loaded it
// before: `import torch, flambeau` would fail. If the action throws, the next caller tries again.
class Once {
 public:
  template <class Act>
  void operator()(Act&& act) {
    if (is_done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (is_done_.load(std::memory_order_relaxed)) return;
    std::forward<Act>(act)();
    is_done_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_done_{false};
};

}  // namespace fb
