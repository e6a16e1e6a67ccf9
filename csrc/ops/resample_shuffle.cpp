// Channels and pixels exchanged.
#include "gen/ops/resample.h"
#include "gen/ops/view.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The dimensions before the last three, followed by `rest`.
Dims with_rest(const Tensor& t, std::initializer_list<int64_t> rest) {
  Dims sizes = t.sizes().first(static_cast<size_t>(t.dim() - 3)).vec();
  for (const int64_t size : rest) sizes.push_back(size);
  return sizes;
}

// The dimensions after the leading ones exchanged as `order` says, counted from the first of them.
Tensor permuted_tail(const Tensor& t, std::initializer_list<int64_t> order) {
  const int64_t lead = t.dim() - static_cast<int64_t>(order.size());
  Dims dims;
  for (int64_t d = 0; d < lead; ++d) dims.push_back(d);
  for (const int64_t d : order) dims.push_back(lead + d);
  return compute::permute(t, dims);
}

Tensor as_sizes(const Tensor& t, IntSpan sizes) { return ops::reshape(contiguous(t), sizes); }

void check_factor(const Tensor& input, int64_t factor, const char* name) {
  FB_CHECK(input.dim() >= 3, "expected at least 3 dimensions, got shape ", input.sizes());
  FB_CHECK(factor > 0, name, " must be positive, got ", factor);
}

}  // namespace

Tensor compute::pixel_shuffle(const Tensor& input, int64_t factor) {
  check_factor(input, factor, "upscale_factor");
  const int64_t channels = input.size(-3), height = input.size(-2), width = input.size(-1);
  FB_CHECK(channels % (factor * factor) == 0, "channels of input ", input.sizes(),
           " must be divisible by the square of upscale_factor ", factor);
  const int64_t left = channels / (factor * factor);
  const Tensor blocks = as_sizes(input, with_rest(input, {left, factor, factor, height, width}));
  return as_sizes(permuted_tail(blocks, {0, 3, 1, 4, 2}),
                  with_rest(input, {left, height * factor, width * factor}));
}

Tensor compute::pixel_unshuffle(const Tensor& input, int64_t factor) {
  check_factor(input, factor, "downscale_factor");
  const int64_t channels = input.size(-3), height = input.size(-2), width = input.size(-1);
  FB_CHECK(height % factor == 0 && width % factor == 0, "height and width of input ", input.sizes(),
           " must be divisible by downscale_factor ", factor);
  const Tensor blocks = as_sizes(
      input, with_rest(input, {channels, height / factor, factor, width / factor, factor}));
  return as_sizes(permuted_tail(blocks, {0, 2, 4, 1, 3}),
                  with_rest(input, {channels * factor * factor, height / factor, width / factor}));
}

Tensor compute::channel_shuffle(const Tensor& input, int64_t groups) {
  FB_CHECK(input.dim() > 2, "expected more than 2 dimensions, got shape ", input.sizes());
  FB_CHECK(groups > 0, "groups must be positive, got ", groups);
  const int64_t batch = input.size(0), channels = input.size(1);
  FB_CHECK(channels % groups == 0, "channels of input ", input.sizes(),
           " must be divisible by groups ", groups);
  const int64_t rest = numel_of(input.sizes().last(static_cast<size_t>(input.dim() - 2)));
  const Tensor grouped = as_sizes(input, {batch, groups, channels / groups, rest});
  return as_sizes(compute::permute(grouped, {0, 2, 1, 3}), input.sizes());
}

}  // namespace fb::ops
