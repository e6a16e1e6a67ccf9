#include "autograd/formulas/softmax.h"

#include <algorithm>

#include "autograd/formula.h"
#include "gen/ops/explog.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

using namespace ops;

namespace {

// With the reduced dimensions back in their positions, of size 1.
Tensor with_dims(const Tensor& reduced, IntSpan dim, int64_t ndim) {
  Dims order = wrap_dims(dim, ndim);
  std::sort(order.begin(), order.end());
  Tensor result = reduced;
  for (const int64_t d : order) result = ops::unsqueeze(result, d);
  return result;
}

}  // namespace

Tensor softmax_backward_output(const Tensor& grad, const Tensor& gradient, const Tensor& output,
                               int64_t dim) {
  const Dims along{dim};
  const Tensor first = ops::sum(gradient * output, along, true);
  const Tensor second = ops::sum(grad * output, along, true);
  return grad * (gradient - first) - gradient * second;
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                          IntSpan dim, bool keepdim) {
  const int64_t ndim = input.dim();
  const bool dropped = !keepdim && ndim != 0;
  const Tensor total = dropped ? with_dims(result, dim, ndim) : result;
  return (dropped ? with_dims(grad, dim, ndim) : grad) * conj(ops::exp(input - total));
}

}  // namespace fb::autograd::formula
