#include "autograd/formulas/norm.h"

#include "autograd/formula.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/norm.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

// Elements in terms of the statistics of their sets, with what the chain rule needs of them.
struct Normalised {
  Tensor rstd, elements;
  Dims dims;
  bool centred;

  Normalised(const Tensor& x, const Dims& over, double eps, bool centred)
      : dims(over), centred(centred) {
    const Tensor deviation = centred ? x - ops::mean(x, dims, true) : x;
    rstd = ops::rsqrt(ops::mean(deviation * deviation, dims, true) + eps);
    elements = deviation * rstd;
  }

  // The gradient of x from that of the elements.
  Tensor backward(const Tensor& grad) const {
    const Tensor along = elements * ops::mean(grad * elements, dims, true);
    return rstd * ((centred ? grad - ops::mean(grad, dims, true) : grad) - along);
  }
};

Dims last_dims(size_t count) {
  Dims dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(-1 - static_cast<int64_t>(i));
  return dims;
}

Dims all_but_channels(const Tensor& t) {
  Dims dims;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}

// Numbers by channel, shaped to be multiplied with images.
Tensor by_channel(const Tensor& numbers, const Tensor& images) {
  Dims sizes(static_cast<size_t>(images.dim()), 1);
  sizes[1] = images.size(1);
  return ops::view(numbers, sizes);
}

template <size_t N>
std::array<Tensor, N> only(const std::array<bool, N>& needed, std::array<Tensor, N> gradients) {
  for (size_t i = 0; i < N; ++i)
    if (!needed[i]) gradients[i] = Tensor();
  return gradients;
}

std::array<Tensor, 3> composed_image_norm(const Tensor& grad, const Tensor& input,
                                          const Tensor& weight, const Tensor& mean,
                                          const Tensor& rstd, int64_t groups, bool given,
                                          double eps) {
  const Tensor x = ops::to_dtype(input, mean.dtype()), g = ops::to_dtype(grad, mean.dtype());
  const Tensor weighted = weight.defined() ? g * by_channel(weight, x) : g;
  const Dims over = all_but_channels(x);
  Tensor elements, result;
  if (given) {
    const Tensor scale = by_channel(rstd, x);
    elements = (x - by_channel(mean, x)) * scale;
    result = weighted * scale;
  } else if (groups == 0) {
    const Normalised all(x, over, eps, true);
    elements = all.elements;
    result = all.backward(weighted);
  } else {
    const Dims sets{x.size(0), groups, x.numel() / (x.size(0) * groups)};
    const Normalised all(ops::reshape(x, sets), {2}, eps, true);
    elements = ops::reshape(all.elements, x.sizes());
    result = ops::reshape(all.backward(ops::reshape(weighted, sets)), x.sizes());
  }
  return {result, ops::sum(g * elements, over), ops::sum(g, over)};
}

// The gradient of images from those of the statistics of their groups.
Tensor statistics_backward(const Tensor& mean_grad, const Tensor& rstd_grad, const Tensor& input,
                           DType type, int64_t groups, double eps) {
  const int64_t count = input.numel() / (input.size(0) * groups);
  const Tensor x = ops::reshape(ops::to_dtype(input, type), {input.size(0), groups, count});
  const Dims by_group{input.size(0), groups, 1};
  Tensor result;
  if (mean_grad.defined())
    result = ops::expand(ops::reshape(mean_grad, by_group) * (1.0 / count), x.sizes());
  if (rstd_grad.defined()) {
    const Normalised all(x, {2}, eps, true);
    const Tensor of_rstd =
        ops::reshape(rstd_grad, by_group) * all.rstd * all.rstd * all.elements * (-1.0 / count);
    result = result.defined() ? result + of_rstd : of_rstd;
  }
  return ops::reshape(result, input.sizes());
}

// Gradients of weight and bias are summed over the rows by the engine, which knows their shapes.
std::array<Tensor, 3> composed_row_norm(const Tensor& grad, const Tensor& input, size_t last,
                                        const Tensor& weight, const Tensor& rstd, double eps,
                                        bool centred) {
  const Tensor x = ops::to_dtype(input, rstd.dtype()), g = ops::to_dtype(grad, rstd.dtype());
  const Normalised all(x, last_dims(last), eps, centred);
  return {all.backward(weight.defined() ? g * weight : g), g * all.elements, g};
}

}  // namespace

std::array<Tensor, 3> image_norm_backward(const Tensor& grad, const Tensor& input,
                                          const Tensor& weight, const Tensor& mean,
                                          const Tensor& rstd, int64_t groups, bool given,
                                          double eps, std::array<bool, 3> needed) {
  if (is_differentiated(grad, input, weight, mean, rstd) && input.numel() != 0)
    return only(needed, composed_image_norm(grad, input, weight, mean, rstd, groups, given, eps));
  auto [x, w, b] = ops::_image_norm_backward(grad, input, weight, mean, rstd, groups, given);
  return only<3>(needed, {x, w, b});
}

std::array<Tensor, 3> group_norm_backward(const Tensor& grad, const Tensor& mean_grad,
                                          const Tensor& rstd_grad, const Tensor& input,
                                          const Tensor& weight, const Tensor& mean,
                                          const Tensor& rstd, int64_t groups, double eps,
                                          std::array<bool, 3> needed) {
  auto gradients = image_norm_backward(grad, input, weight, mean, rstd, groups, false, eps, needed);
  if (needed[0] && input.numel() != 0 && (mean_grad.defined() || rstd_grad.defined()))
    gradients[0] =
        gradients[0] + statistics_backward(mean_grad, rstd_grad, input, mean.dtype(), groups, eps);
  return gradients;
}

std::array<Tensor, 3> layer_norm_backward(const Tensor& grad, const Tensor& input,
                                          IntSpan normalized_shape, const Tensor& weight,
                                          const Tensor& mean, const Tensor& rstd, double eps,
                                          std::array<bool, 3> needed) {
  if (is_differentiated(grad, input, weight, mean, rstd))
    return only(needed,
                composed_row_norm(grad, input, normalized_shape.size(), weight, rstd, eps, true));
  auto [x, w, b] = ops::_row_norm_backward(grad, input, weight, mean, rstd);
  // Without a weight the kernel does not know the shape of a row.
  if (needed[2] && !weight.defined())
    b = input.numel() == 0 ? ops::zeros(normalized_shape, b.dtype(), b.device())
                           : ops::reshape(b, normalized_shape);
  return only<3>(needed, {x, w, b});
}

std::array<Tensor, 2> rms_norm_backward(const Tensor& grad, const Tensor& input,
                                        IntSpan normalized_shape, const Tensor& weight,
                                        const Tensor& rstd, double eps,
                                        std::array<bool, 2> needed) {
  if (is_differentiated(grad, input, weight, rstd)) {
    const auto gradients =
        composed_row_norm(grad, input, normalized_shape.size(), weight, rstd, eps, false);
    return only<2>(needed, {gradients[0], gradients[1]});
  }
  auto [x, w, b] = ops::_row_norm_backward(grad, input, weight, {}, rstd);
  return only<2>(needed, {x, w});
}

}  // namespace fb::autograd::formula
