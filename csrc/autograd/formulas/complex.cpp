#include "autograd/formulas/complex.h"

#include "autograd/formula.h"
#include "gen/ops/create.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor angle_backward(const Tensor& grad, const Tensor& input) {
  if (!is_complex(input.dtype())) return ops::zeros_like(grad);
  const Tensor re = ops::real(input), im = ops::imag(input);
  const Tensor across = ops::complex(-im, re);
  return ops::where(ops::eq(input, 0), 0, across / (ops::square(re) + ops::square(im)) * grad);
}

}  // namespace fb::autograd::formula
