// Images as encoders take them.
#include "image/pixels.h"

#include "core/error.h"
#include "ops/output.h"

namespace fb::image {

Tensor interleaved(const Tensor& image, bool with_opacity) {
  FB_CHECK(image.dtype() == DType::kUInt8, "Input tensor dtype should be uint8, got ",
           name_of(image.dtype()));
  FB_CHECK(image.dim() == 3, "Input data should be a 3-dimensional tensor, got ", image.dim(),
           " dimensions");
  const IntSpan sizes = image.sizes(), strides = image.strides();
  const bool fits = with_opacity ? sizes[0] >= 1 && sizes[0] <= 4 : sizes[0] == 1 || sizes[0] == 3;
  FB_CHECK(fits, "The number of channels should be ", with_opacity ? "1 to 4" : "1 or 3",
           ", got: ", sizes[0]);
  FB_CHECK(image.numel() > 0, "cannot encode an image without pixels, got shape ", sizes);
  return ops::contiguous(inner_view(image, {sizes[1], sizes[2], sizes[0]},
                                    {strides[1], strides[2], strides[0]}, image.offset()));
}

}  // namespace fb::image
