// Whether a copy between host and device may go on after the call that started it has returned.
#pragma once

#include <utility>

namespace fb {

inline constinit thread_local bool non_blocking = false;

// While one of these lives, copies of this thread need not wait if `wanted`.
class NonBlocking {
 public:
  explicit NonBlocking(bool wanted) : before_(std::exchange(non_blocking, wanted)) {}
  ~NonBlocking() { non_blocking = before_; }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  bool before_;
};

}  // namespace fb
