// What the gradients of resampling call.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "autograd/window.h"
#include "ops/types.h"

namespace fb::autograd::formula {

// `input` is the geometry of what was resampled: its gradient lies in memory as it does.
Tensor resample_backward(const Tensor& grad, const Window& input, const std::string& kind,
                         const std::optional<std::vector<double>>& factors, bool align_corners);
// To the sizes of `result`.
Tensor resample(const Tensor& input, const std::string& kind, IntSpan result,
                const std::optional<std::vector<double>>& factors, bool align_corners);
Tensor channel_shuffle_backward(const Tensor& grad, int64_t groups);
Tensor affine_grid_backward(const Tensor& grad, IntSpan size, bool align_corners);
std::array<Tensor, 2> grid_sampler_backward(const Tensor& grad, const Tensor& input,
                                            const Tensor& grid, int64_t mode, int64_t padding,
                                            bool align_corners, std::array<bool, 2> needed);

}  // namespace fb::autograd::formula
