// Images, signals and volumes as kernels see them.
#include "ops/image.h"

#include "ops/output.h"

namespace fb::ops {
namespace {

// Strides of (N, C, ...) with the channels last in memory.
Dims channels_last_strides(IntSpan sizes) {
  Dims strides(sizes.size(), 1);
  int64_t step = sizes[1];
  for (size_t d = sizes.size() - 1; d >= 2; --d) {
    strides[d] = step;
    step *= sizes[d];
  }
  strides[0] = step;
  return strides;
}

Tensor in_order(const Tensor& t, bool channels_last) {
  if (!channels_last) return contiguous(t);
  if (has_channels_last(t)) return t;
  Tensor copy = make_strided(t.sizes(), channels_last_strides(t.sizes()), t.dtype(), t.device());
  copy_into(copy, t);
  return copy;
}

}  // namespace

bool has_channels_last(IntSpan sizes, IntSpan strides) {
  if (sizes.size() < 3 || sizes.size() > 5) return false;
  const Dims wanted = channels_last_strides(sizes);
  bool contiguous = true;
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != wanted[d]) return false;
    contiguous &= strides[d] == step;
    step *= sizes[d];
  }
  return !contiguous;
}

bool has_channels_last(const Tensor& t) {
  return !t.is_contiguous() && has_channels_last(t.sizes(), t.strides());
}

Tensor make_image(IntSpan sizes, DType dtype, const Tensor& like) {
  if (!has_channels_last(like)) return make_tensor(sizes, dtype, like.device());
  return make_strided(sizes, channels_last_strides(sizes), dtype, like.device());
}

Image::Image(const Tensor& input, int64_t rank)
    : Image(input, rank, input.dim() == rank + 2 && has_channels_last(input)) {}

Image::Image(const Tensor& input, int64_t rank, bool channels_last)
    : elements(in_order(input, channels_last)), rank(rank), channels_last(channels_last) {}

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
  return make_strided(sizes, channels_last_strides(sizes), dtype, elements.device());
}

void check_image(const Tensor& input, int64_t rank, bool channels_may_be_empty) {
  const int64_t first = input.dim() - rank - (channels_may_be_empty ? 0 : 1);
  bool full = input.dim() == rank + 1 || input.dim() == rank + 2;
  for (int64_t d = std::max<int64_t>(first, 0); d < input.dim(); ++d) full &= input.sizes()[d] != 0;
  FB_CHECK(full, "expected a ", rank + 1, "D or ", rank + 2,
           "D (batch mode) tensor that is not empty but for the batch, got shape ", input.sizes());
}

Dims for_each_dim(IntSpan values, int64_t rank, const char* name) {
  const auto count = static_cast<int64_t>(values.size());
  FB_CHECK(count == 1 || count == rank, name, " must be an int or a tuple of ", rank, " ints, got ",
           values);
  if (count == rank) return values.vec();
  return Dims(static_cast<size_t>(rank), values[0]);
}

}  // namespace fb::ops
