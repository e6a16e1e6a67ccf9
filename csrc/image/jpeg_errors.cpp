// Errors of libjpeg as Flambeau's.
#if defined(FB_HAVE_JPEG)

#include "image/jpeg_errors.h"

#include <cstring>
#include <iterator>

namespace fb::image {
namespace {

// The library's own message table and error manager are in an object file that prints to stderr and
// cannot be linked into a Python module if the archive was built for programs only.
#define JCOPYRIGHT_SHORT ""
#define JVERSION ""
constexpr const char* kMessages[] = {
#define JMESSAGE(code, text) text,
#include <jerror.h>
};

void format(jpeg_common_struct* info, char* buffer) {
  const jpeg_error_mgr& error = *info->err;
  const bool is_known =
      error.msg_code > 0 && error.msg_code < static_cast<int>(std::size(kMessages));
  const char* text = kMessages[is_known ? error.msg_code : 0];
  const int* numbers = error.msg_parm.i;
  if (std::strstr(text, "%s"))
    std::snprintf(buffer, JMSG_LENGTH_MAX, text, error.msg_parm.s);
  else
    std::snprintf(buffer, JMSG_LENGTH_MAX, text, numbers[0], numbers[1], numbers[2], numbers[3],
                  numbers[4], numbers[5], numbers[6], numbers[7]);
}

}  // namespace

JpegErrors::JpegErrors() : state_{} {
  jpeg_error_mgr& manager = state_.manager;
  manager.error_exit = [](jpeg_common_struct* info) {
    char message[JMSG_LENGTH_MAX];
    info->err->format_message(info, message);
    leave(info, message);
  };
  manager.format_message = format;
  // Warnings about corrupt data: the image is still decoded, as by every other decoder.
  manager.emit_message = [](jpeg_common_struct* info, int level) {
    if (level < 0) ++info->err->num_warnings;
  };
  manager.output_message = [](jpeg_common_struct*) {};
  manager.reset_error_mgr = [](jpeg_common_struct* info) { info->err->num_warnings = 0; };
}

void JpegErrors::leave(jpeg_common_struct* info, const char* message) {
  auto* state = reinterpret_cast<State*>(info->err);
  std::snprintf(state->message, sizeof(state->message), "%s", message);
  std::longjmp(state->back, 1);
}

}  // namespace fb::image

#endif
