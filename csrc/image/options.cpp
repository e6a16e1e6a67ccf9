// Options of a decoder, whatever the format.
#include "image/options.h"

#include <algorithm>

#include "core/error.h"

namespace fb::image {

void check_pixels(int64_t width, int64_t height, const Options& options, const std::string& name) {
  // Neither exceeds 2^31, so the product fits into int64_t; the limit keeps the number of bytes
  // within it too.
  constexpr int64_t kMost = int64_t{1} << 48;
  FB_CHECK(width * height <= std::min(options.most_pixels, kMost), name, ": its header promises ",
           width, " x ", height, " pixels, the limit is ", options.most_pixels,
           ". If you trust the file, raise PIL.Image.MAX_IMAGE_PIXELS (twice that is the "
           "limit; None is no limit)");
}

}  // namespace fb::image
