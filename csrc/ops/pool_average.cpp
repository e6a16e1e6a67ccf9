// Average pooling: a separable map, see Note [Separable maps] in kernel/resample.h.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/pool.h"
#include "gen/ops/reduce.h"
#include "gen/ops/rounding.h"
#include "ops/output.h"
#include "ops/pool.h"
#include "ops/separable.h"

namespace fb::ops {
namespace {

using kernel::AxisMap;
using kernel::AxisMapMaker;

struct Averaging {
  Windows windows;
  bool count_include_pad;
  std::optional<int64_t> divisor;

  // The divisor of a window is the product over its dimensions; a divisor that the user gives is
  // put into the last one.
  double scale(size_t dim, int64_t counted) const {
    if (!divisor) return 1.0 / static_cast<double>(counted);
    return dim + 1 == windows.kernel.size() ? 1.0 / static_cast<double>(*divisor) : 1.0;
  }

  AxisMap map(size_t dim, int64_t in, int64_t out) const {
    AxisMapMaker maker(in);
    const int64_t padding = windows.padding[dim];
    for (int64_t o = 0; o < out; ++o) {
      const int64_t start = o * windows.stride[dim] - padding;
      const int64_t padded_end = std::min(start + windows.kernel[dim], in + padding);
      const int64_t begin = std::max<int64_t>(start, 0), end = std::min(padded_end, in);
      const double weight = scale(dim, count_include_pad ? padded_end - start : end - begin);
      maker.begin_row();
      for (int64_t i = begin; i < end; ++i) maker.add(i, weight);
    }
    return maker.finish();
  }

  Separable maps(IntSpan space, IntSpan out) const {
    Separable maps;
    for (size_t i = 0; i < space.size(); ++i) maps.push_back(map(i, space[i], out[i]));
    return maps;
  }
};

Averaging read_averaging(IntSpan kernel_size, std::optional<IntSpan> stride, IntSpan padding,
                         bool count_include_pad, std::optional<int64_t> divisor, int64_t rank) {
  FB_CHECK(divisor != 0, "divisor_override must not be zero");
  return {read_windows(kernel_size, stride, padding, {1}, rank), count_include_pad, divisor};
}

Tensor averaged_integers(const Tensor& input, const Averaging& averaging, bool ceil_mode);

Tensor averaged(const Tensor& input, const Averaging& averaging, bool ceil_mode) {
  // PyTorch's exception class for an image that lacks dimensions.
  FB_CHECK_INDEX(averaging.windows.rank() != 2 || input.dim() >= 3,
                 "expected a 3D or 4D (batch mode) tensor, got shape ", input.sizes());
  if (input.dtype() == DType::kInt64) return averaged_integers(input, averaging, ceil_mode);
  const Dims out = pooled_space(input, averaging.windows, ceil_mode);
  const Image image(input, averaging.windows.rank());
  if (image.rank == 3)
    for (size_t i = 0; i < 3; ++i)
      FB_CHECK(image.space()[i] >= averaging.windows.kernel[i], "input of shape ", input.sizes(),
               " is smaller than kernel_size ", averaging.windows.kernel);
  return run_separable(image, averaging.maps(image.space(), out));
}

// Exact sums, and quotients rounded towards zero.
Tensor averaged_integers(const Tensor& input, const Averaging& averaging, bool ceil_mode) {
  const Averaging summing{averaging.windows, true, 1};
  const Tensor x = cast(input, DType::kFloat64), ones = ops::ones_like(x);
  // The average of ones is the number of elements divided by the divisor.
  const Tensor divisor = ops::round(
      ops::div(averaged(ones, summing, ceil_mode), averaged(ones, averaging, ceil_mode)));
  return cast(ops::trunc(ops::div(averaged(x, summing, ceil_mode), divisor)), DType::kInt64);
}

Separable adaptive_maps(IntSpan space, IntSpan out) {
  Separable maps;
  for (size_t i = 0; i < space.size(); ++i) {
    AxisMapMaker maker(space[i]);
    const kernel::PoolAxis axis = kernel::adaptive_axis(space[i], out[i]);
    for (int64_t o = 0; o < out[i]; ++o) {
      maker.begin_row();
      for (int32_t k = 0; k < axis.last[o]; ++k) maker.add(axis.origin[o] + k, 1.0 / axis.last[o]);
    }
    maps.push_back(maker.finish());
  }
  return maps;
}

Tensor adaptively_averaged(const Tensor& input, IntSpan output_size, int64_t rank) {
  // PyTorch computes this case as a mean, which raises IndexError for missing dimensions.
  const bool is_mean =
      std::all_of(output_size.begin(), output_size.end(), [](int64_t size) { return size == 1; });
  FB_CHECK_INDEX(rank == 1 || !is_mean || input.dim() >= rank, "expected a ", rank + 1, "D or ",
                 rank + 2, "D (batch mode) tensor, got shape ", input.sizes());
  check_image(input, rank, true);
  const Image image(input, rank);
  if (is_mean && !image.channels_last) {
    Dims dims;
    for (int64_t d = -rank; d < 0; ++d) dims.push_back(d);
    return ops::mean(image.elements, dims, true);
  }
  const Dims out = adaptive_space(input, output_size, rank);
  check_memory(image.sizes_with(out), input.dtype(), input.device());
  return run_separable(image, adaptive_maps(image.space(), out));
}

}  // namespace

Tensor compute::nn_functional_avg_pool1d(const Tensor& input, IntSpan kernel_size,
                                         std::optional<IntSpan> stride, IntSpan padding,
                                         bool ceil_mode, bool count_include_pad) {
  return averaged(input, read_averaging(kernel_size, stride, padding, count_include_pad, {}, 1),
                  ceil_mode);
}
Tensor compute::nn_functional_avg_pool2d(const Tensor& input, IntSpan kernel_size,
                                         std::optional<IntSpan> stride, IntSpan padding,
                                         bool ceil_mode, bool count_include_pad,
                                         std::optional<int64_t> divisor) {
  return averaged(input,
                  read_averaging(kernel_size, stride, padding, count_include_pad, divisor, 2),
                  ceil_mode);
}
Tensor compute::nn_functional_avg_pool3d(const Tensor& input, IntSpan kernel_size,
                                         std::optional<IntSpan> stride, IntSpan padding,
                                         bool ceil_mode, bool count_include_pad,
                                         std::optional<int64_t> divisor) {
  return averaged(input,
                  read_averaging(kernel_size, stride, padding, count_include_pad, divisor, 3),
                  ceil_mode);
}

Tensor compute::nn_functional_adaptive_avg_pool1d(const Tensor& input, IntSpan output_size) {
  return adaptively_averaged(input, output_size, 1);
}
Tensor compute::nn_functional_adaptive_avg_pool2d(const Tensor& input, IntSpan output_size) {
  return adaptively_averaged(input, output_size, 2);
}
Tensor compute::nn_functional_adaptive_avg_pool3d(const Tensor& input, IntSpan output_size) {
  return adaptively_averaged(input, output_size, 3);
}

Tensor compute::_avg_pool_backward(const Tensor& gradient, IntSpan shape, int64_t rank,
                                   bool channels_last, IntSpan kernel_size,
                                   std::optional<IntSpan> stride, IntSpan padding, bool,
                                   bool count_include_pad, std::optional<int64_t> divisor) {
  const Averaging averaging =
      read_averaging(kernel_size, stride, padding, count_include_pad, divisor, rank);
  const Image image(gradient, rank, channels_last);
  const IntSpan space = shape.last(static_cast<size_t>(rank));
  return run_separable(image, transposed(averaging.maps(space, image.space())));
}

Tensor compute::_adaptive_avg_pool_backward(const Tensor& gradient, IntSpan shape, int64_t rank,
                                            bool channels_last) {
  const Image image(gradient, rank, channels_last);
  const IntSpan space = shape.last(static_cast<size_t>(rank));
  return run_separable(image, transposed(adaptive_maps(space, image.space())));
}

}  // namespace fb::ops
