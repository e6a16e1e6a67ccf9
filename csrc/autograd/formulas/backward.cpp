#include "autograd/formulas/backward.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"

namespace fb::autograd::formula {

using namespace ops;

// With s = sigmoid(x): s (1 - s) (2 + x (1 - 2 s)).
Tensor silu_curvature(const Tensor& input) {
  const Tensor s = sigmoid(input);
  const Tensor slope = mul(s, rsub(s, 1));
  return mul(slope, add(mul(input, rsub(mul(s, 2), 1)), 2));
}

Tensor softplus_curvature(const Tensor& input, double beta, double threshold) {
  const Tensor scaled = mul(input, beta), s = sigmoid(scaled);
  return where(gt(scaled, threshold), 0, mul(mul(s, rsub(s, 1)), beta));
}

// The normal density times 2 - x^2.
Tensor gelu_curvature(const Tensor& input) {
  constexpr double density_at_zero = 0.39894228040143267794;
  const Tensor square_of = square(input);
  return mul(mul(exp(mul(square_of, -0.5)), density_at_zero), rsub(square_of, 2));
}

// gelu is x s with s = sigmoid(v) and v = c (x + a x^3); the slope of s is s (1 - s) v'.
Tensor gelu_tanh_curvature(const Tensor& input) {
  constexpr double c = 1.5957691216057307, a = 0.044715;
  const Tensor x2 = square(input);
  const Tensor s = sigmoid(mul(mul(input, c), add(mul(x2, a), 1)));
  const Tensor first = mul(add(mul(x2, 3 * a), 1), c), second = mul(input, 6 * a * c);
  const Tensor bend = add(mul(rsub(mul(s, 2), 1), square(first)), second);
  return mul(mul(s, rsub(s, 1)), add(mul(first, 2), mul(input, bend)));
}

}  // namespace fb::autograd::formula
