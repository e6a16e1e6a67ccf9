// The gradients of pooling.
#include "autograd/formulas/pool.h"

#include "gen/ops/pool.h"
#include "ops/image.h"

namespace fb::autograd::formula {
namespace {

bool has_channels_last(const Window& input, int64_t rank) {
  return static_cast<int64_t>(input.sizes.size()) == rank + 2 &&
         ops::has_channels_last(input.sizes, input.strides);
}

// Stands for windows if there are none.
Dims unit_windows(int64_t rank) { return Dims(static_cast<size_t>(rank), 1); }

}  // namespace

Tensor avg_pool_backward(const Tensor& grad, const Window& input, int64_t rank, IntSpan kernel_size,
                         std::optional<IntSpan> stride, IntSpan padding, bool ceil_mode,
                         bool count_include_pad, std::optional<int64_t> divisor_override) {
  return ops::_avg_pool_backward(grad, input.sizes, rank, has_channels_last(input, rank),
                                 kernel_size, stride, padding, ceil_mode, count_include_pad,
                                 divisor_override);
}

Tensor avg_pool(const Tensor& input, int64_t rank, IntSpan kernel_size,
                std::optional<IntSpan> stride, IntSpan padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
  if (rank == 1)
    return ops::nn_functional_avg_pool1d(input, kernel_size, stride, padding, ceil_mode,
                                         count_include_pad);
  const auto pool = rank == 2 ? ops::nn_functional_avg_pool2d : ops::nn_functional_avg_pool3d;
  return pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
}

Tensor adaptive_avg_pool_backward(const Tensor& grad, const Window& input, int64_t rank) {
  return ops::_adaptive_avg_pool_backward(grad, input.sizes, rank, has_channels_last(input, rank));
}

Tensor adaptive_avg_pool(const Tensor& input, IntSpan result, int64_t rank) {
  constexpr decltype(&ops::nn_functional_adaptive_avg_pool1d) kOperators[] = {
      ops::nn_functional_adaptive_avg_pool1d, ops::nn_functional_adaptive_avg_pool2d,
      ops::nn_functional_adaptive_avg_pool3d};
  return kOperators[rank - 1](input, result.last(static_cast<size_t>(rank)));
}

Tensor max_scatter(const Tensor& grad, const Tensor& positions, IntSpan shape, int64_t rank) {
  const Dims one = unit_windows(rank);
  return ops::_max_pool_scatter(grad, positions, shape, one, one, one, one);
}

Tensor max_unpool(const Tensor& input, const Tensor& indices, IntSpan output_size) {
  constexpr decltype(&ops::_max_unpool1d) kOperators[] = {ops::_max_unpool1d, ops::_max_unpool2d,
                                                          ops::_max_unpool3d};
  return kOperators[output_size.size() - 1](input, indices, output_size);
}

}  // namespace fb::autograd::formula
