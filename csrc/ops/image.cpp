// Images, signals and volumes as kernels see them.
#include "ops/image.h"

#include <algorithm>
#include <limits>

#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {

bool has_channels_last(IntSpan sizes, IntSpan strides) {
  if (sizes.size() < 3) return false;
  const Dims channels_last = channels_last_strides(sizes), plain = contiguous_strides(sizes);
  bool is_contiguous = true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (strides[d] != channels_last[d]) return false;
    is_contiguous &= strides[d] == plain[d];
  }
  return !is_contiguous;
}

Tensor with_channels_last(const Tensor& image) {
  if (is_channels_last(image)) return image;
  const Tensor ordered = make_deferred_image(image.sizes(), image.dtype(), image.device());
  kernel::copy(ordered, image);
  return ordered;
}

Tensor make_image_of(const Tensor& like, IntSpan sizes) {
  if (like.dim() < 4 && !like->deferred_layout)
    return make_tensor(sizes, like.dtype(), like.device());
  return make_image(sizes, like.dtype(), like);
}

Image::Image(const Tensor& input, int64_t rank)
    : Image(input, rank,
            input.dim() == rank + 2 && !input.is_contiguous() && is_channels_last(input) &&
                (rank > 1 || input->deferred_layout)) {}

Image::Image(const Tensor& input, int64_t rank, bool channels_last)
    : elements(channels_last ? with_channels_last(input) : contiguous(input)),
      rank(rank),
      channels_last(channels_last) {}

int64_t Image::planes() const {
  const IntSpan sizes = elements.sizes();
  const int64_t batch = static_cast<int64_t>(sizes.size()) == rank + 2 ? sizes[0] : 1;
  return channels_last ? batch : batch * sizes[sizes.size() - rank - 1];
}

int64_t Image::inner() const { return channels_last ? elements.sizes()[1] : 1; }

Dims Image::sizes_with(IntSpan space) const {
  Dims sizes = elements.sizes().vec();
  for (size_t i = 0; i < space.size(); ++i) sizes[sizes.size() - space.size() + i] = space[i];
  return sizes;
}

Tensor Image::make(IntSpan space, DType dtype) const {
  const Dims sizes = sizes_with(space);
  if (!channels_last) return make_tensor(sizes, dtype, elements.device());
  // An image of one pixel is contiguous in either order, so its strides say nothing.
  const bool is_ours = elements->deferred_layout || elements.is_contiguous();
  return is_ours ? make_deferred_image(sizes, dtype, elements.device())
                 : make_image(sizes, dtype, elements);
}

void check_image(const Tensor& input, int64_t rank, bool channels_may_be_empty) {
  const int64_t first = input.dim() - rank - (channels_may_be_empty ? 0 : 1);
  bool full = input.dim() == rank + 1 || input.dim() == rank + 2;
  for (int64_t d = std::max<int64_t>(first, 0); d < input.dim(); ++d) full &= input.sizes()[d] != 0;
  FB_CHECK(full, "expected a ", rank + 1, "D or ", rank + 2,
           "D (batch mode) tensor that is not empty but for the batch, got shape ", input.sizes());
}

void check_countable(IntSpan values, const char* name) {
  for (const int64_t value : values)
    FB_CHECK(value <= std::numeric_limits<int32_t>::max(), name, " must be less than 2^31, got ",
             values);
}

void check_memory(IntSpan sizes, DType dtype, Device device) {
  constexpr int64_t kLong = int64_t{1} << 20;
  const auto [shortest, longest] = std::minmax_element(sizes.begin(), sizes.end());
  if (shortest != sizes.end() && *shortest > 0 && *longest > kLong)
    make_tensor(sizes, dtype, device);
}

Dims for_each_dim(IntSpan values, int64_t rank, const char* name) {
  const auto count = static_cast<int64_t>(values.size());
  FB_CHECK(count == 1 || count == rank, name, " must be an int or a tuple of ", rank, " ints, got ",
           values);
  check_countable(values, name);
  if (count == rank) return values.vec();
  return Dims(static_cast<size_t>(rank), values[0]);
}

}  // namespace fb::ops
