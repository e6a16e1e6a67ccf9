// The libjpeg-turbo of this build, and stubs if it has none.
#include "image/jpeg.h"

#if defined(FB_HAVE_JPEG)

#include <dlfcn.h>

#include "image/jpeg_errors.h"

#define FB_TEXT(x) #x
#define FB_TEXT_OF(x) FB_TEXT(x)

namespace fb::image {

cpu::Library jpeg_library() {
  Dl_info info;
  const bool is_found = dladdr(reinterpret_cast<const void*>(&jpeg_CreateDecompress), &info) != 0;
  // Only its header has the version.
  return {FB_TEXT_OF(LIBJPEG_TURBO_VERSION),
          is_found && info.dli_fname ? info.dli_fname : "linked into flambeau"};
}

}  // namespace fb::image

#else

#include "core/error.h"

namespace fb::image {
namespace {

[[noreturn]] Tensor refuse() {
  fail(ErrorKind::kRuntime, "this build has no libjpeg-turbo: see flambeau doctor");
}

}  // namespace

cpu::Library jpeg_library() { return {}; }

Tensor decode_jpeg(std::span<const uint8_t>, const Options&, const std::string&) { refuse(); }

Tensor encode_jpeg(const Tensor&, int) { refuse(); }

}  // namespace fb::image

#endif
