#include "autograd/formulas/conv.h"

#include "autograd/formula.h"
#include "gen/ops/conv.h"
#include "gen/ops/reduce.h"
#include "ops/conv.h"

namespace fb::autograd::formula {

using namespace ops;

std::array<Tensor, 3> convolution_backward(const Tensor& grad, const Tensor& input,
                                           const Tensor& weight, IntSpan stride, IntSpan padding,
                                           IntSpan dilation, bool transposed,
                                           IntSpan output_padding, int64_t groups,
                                           const std::array<bool, 3>& needed) {
  // The order of the gradient's elements is changed once for all three.
  const Tensor gradient = is_differentiated(grad, input, weight)
                              ? grad
                              : ordered_gradient(grad, input, weight, stride, padding, dilation,
                                                 transposed, output_padding, groups);
  std::array<Tensor, 3> result;
  if (needed[0])
    result[0] = ops::convolution_input(gradient, conj(weight), input.sizes(), stride, padding,
                                       dilation, transposed, output_padding, groups);
  if (needed[1])
    result[1] = ops::convolution_weight(gradient, conj(input), weight.sizes(), stride, padding,
                                        dilation, transposed, output_padding, groups);
  if (needed[2]) {
    Dims dims;
    for (int64_t d = 0; d < grad.dim(); ++d)
      if (d != 1) dims.push_back(d);
    result[2] = ops::sum(gradient, dims, false);
  }
  return result;
}

}  // namespace fb::autograd::formula
