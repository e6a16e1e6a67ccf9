// What is asked of a decoder, whatever the format.
#include "image/options.h"

#include <algorithm>

#include "core/error.h"

namespace fb::image {

void check_pixels(int64_t width, int64_t height, const Options& options, const std::string& name) {
  // Neither is more than 2^31, so that the product is one of int64_t; nor are bytes of so many
  // pixels more than it holds.
  constexpr int64_t kMost = int64_t{1} << 48;
  FB_CHECK(width * height <= std::min(options.most_pixels, kMost), name, ": its header promises ",
           width, " x ", height, " pixels, the limit is ", options.most_pixels,
           ". If the file is to be trusted raise PIL.Image.MAX_IMAGE_PIXELS (twice that is the "
           "limit; None is no limit)");
}

}  // namespace fb::image
