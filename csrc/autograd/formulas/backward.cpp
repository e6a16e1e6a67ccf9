#include "autograd/formulas/backward.h"

#include "autograd/formula.h"
#include "gen/ops/activation.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"

namespace fb::autograd::formula {

using namespace ops;

// With s = sigmoid(x): s (1 - s) (2 + x (1 - 2 s)).
Tensor silu_curvature(const Tensor& input) {
  const Tensor s = ops::sigmoid(input);
  return s * (1 - s) * (2 + input * (1 - 2 * s));
}

Tensor softplus_curvature(const Tensor& input, double beta, double threshold) {
  const Tensor scaled = input * beta, s = ops::sigmoid(scaled);
  return ops::where(ops::gt(scaled, threshold), 0, s * (1 - s) * beta);
}

// The normal density times 2 - x^2.
Tensor gelu_curvature(const Tensor& input) {
  constexpr double density_at_zero = 0.39894228040143267794;
  const Tensor x2 = ops::square(input);
  return ops::exp(x2 * -0.5) * density_at_zero * (2 - x2);
}

// gelu is x s with s = sigmoid(v) and v = c (x + a x^3); the slope of s is s (1 - s) v'.
Tensor gelu_tanh_curvature(const Tensor& input) {
  constexpr double c = 1.5957691216057307, a = 0.044715;
  const Tensor x2 = ops::square(input);
  const Tensor s = ops::sigmoid(input * c * (1 + a * x2));
  const Tensor first = (1 + 3 * a * x2) * c, second = input * (6 * a * c);
  return s * (1 - s) * (2 * first + input * ((1 - 2 * s) * ops::square(first) + second));
}

// mish is x t with t = tanh(softplus(x)), whose slope is u = s (1 - t^2) with s = sigmoid(x); the
// slope of u is u (1 - s - 2 t s).
Tensor mish_curvature(const Tensor& input) {
  const Tensor s = ops::sigmoid(input), t = ops::tanh(ops::softplus(input));
  const Tensor u = s * (1 - ops::square(t));
  return u * (2 + input * (1 - s - 2 * t * s));
}

}  // namespace fb::autograd::formula
