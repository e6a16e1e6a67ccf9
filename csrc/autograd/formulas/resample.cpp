// The gradients of resampling.
#include "autograd/formulas/resample.h"

#include "gen/ops/matmul.h"
#include "gen/ops/resample.h"
#include "gen/ops/view.h"
#include "ops/image.h"
#include "ops/resample_grid.h"

namespace fb::autograd::formula {

Tensor resample_backward(const Tensor& grad, const Window& input, const std::string& kind,
                         const std::optional<std::vector<double>>& factors, bool align_corners) {
  const bool channels_last = ops::has_channels_last(input.sizes, input.strides);
  return ops::_resample_backward(grad, input.sizes, channels_last, kind, factors, align_corners);
}

Tensor resample(const Tensor& input, const std::string& kind, IntSpan result,
                const std::optional<std::vector<double>>& factors, bool align_corners) {
  return ops::_resample(input, kind, result.last(result.size() - 2), factors, align_corners);
}

Tensor channel_shuffle_backward(const Tensor& grad, int64_t groups) {
  return ops::channel_shuffle(grad, grad.size(1) / groups);
}

Tensor affine_grid_backward(const Tensor& grad, IntSpan size, bool align_corners) {
  const int64_t rank = grad.size(-1);
  const Tensor grid = ops::pixel_grid(size, align_corners, grad.dtype(), grad.device());
  const Tensor points = ops::reshape(grad, {size[0], grid.size(1), rank});
  return ops::bmm(ops::transpose(points, 1, 2), grid);
}

}  // namespace fb::autograd::formula
