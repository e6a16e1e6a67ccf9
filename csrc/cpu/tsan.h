// What the thread sanitizer cannot see: GNU OpenMP starts and joins its threads by system calls of
// its own. `tsan_release` says that what this thread did happens before what follows a
// `tsan_acquire` of the same address.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define FB_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FB_TSAN
#endif
#endif

#if defined(FB_TSAN)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace fb::cpu {

inline void tsan_acquire([[maybe_unused]] void* address) {
#if defined(FB_TSAN)
  __tsan_acquire(address);
#endif
}

inline void tsan_release([[maybe_unused]] void* address) {
#if defined(FB_TSAN)
  __tsan_release(address);
#endif
}

}  // namespace fb::cpu
