#include "autograd/formulas/distance.h"

#include "autograd/formula.h"
#include "gen/ops/distance.h"

namespace fb::autograd::formula {

using namespace ops;

std::array<Tensor, 2> euclidean_pairs_backward(const Tensor& grad, const Tensor& x1,
                                               const Tensor& x2, double eps, const Tensor& result,
                                               const std::array<bool, 2>& needed) {
  const Dims last{-1};
  const Tensor first =
      is_differentiated(grad, x1, x2, result)
          ? norm_backward(grad, x1 - x2 + eps, result, Scalar(2.0), IntSpan(last), false)
          : ops::euclidean_pairs_gradient(grad, x1, x2, eps, result);
  return {needed[0] ? first : Tensor(), needed[1] ? -first : Tensor()};
}

}  // namespace fb::autograd::formula
