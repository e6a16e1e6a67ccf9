// Errors of libjpeg as Flambeau's.
//
// Note [Errors of libjpeg]: libjpeg reports an error through a function that must not return, and
// an exception must not pass through its frames, which are C. So the function jumps back over them,
// to the code that made the calls. Nothing that such a jump skips has a destructor: objects that
// own something live outside of the lambda that JpegErrors::run is given.
#pragma once

#if defined(FB_HAVE_JPEG)

#include <csetjmp>
#include <cstdio>
// clang-format off: it needs the one before
#include <jpeglib.h>
// clang-format on

namespace fb::image {

class JpegErrors {
 public:
  JpegErrors();
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  jpeg_error_mgr* manager() { return &state_.manager; }
  const char* message() const { return state_.message; }

  // Makes calls of libjpeg; false if one of them failed, and message() says why.
  template <class F>
  [[gnu::noinline]] bool run(const F& calls) {
    if (setjmp(state_.back)) return false;
    calls();
    return true;
  }

  // For callbacks of libjpeg: leaves `run`, which returns false.
  [[noreturn]] static void leave(jpeg_common_struct* info, const char* message);

 private:
  struct State {
    jpeg_error_mgr manager;  // first: libjpeg has only the address of this member
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
  };

  State state_;
};

}  // namespace fb::image

#endif
