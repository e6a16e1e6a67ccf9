// Gradients of products of Householder reflectors.
//
// Note [Products of reflectors]: Q E = H1 ... Hk E with Hi = I - tau_i v_i v_i^H, where v_i is zero
// above its i-th element, which is 1. With Si = H(i+1) ... Hk E and Gi = (H1 ... H(i-1))^H G, the
// gradient of Hi is M = Gi Si^H, that of tau_i is -v_i^H M v_i, and that of v_i is
// -(conj(tau_i) M v_i + tau_i M^H v_i). A product with Q^H or from the right is brought into this
// form by exchanging the roles of G and E.
#include "autograd/formulas/linalg.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/padding.h"
#include "gen/ops/shape.h"

namespace fb::autograd::formula {
namespace {

// The reflectors as columns: ones on the diagonal, zeros above it.
Tensor unit_columns(const Tensor& input, int64_t count) {
  const Tensor below = ops::tril(ops::narrow(input, -1, 0, count), -1);
  return below + ops::eye(input.size(-2), count, input.dtype(), input.device());
}

struct Reflector {
  Tensor v;    // (..., m, 1)
  Tensor tau;  // (..., 1, 1)
};

Tensor reflected(const Reflector& h, const Tensor& x) {
  return x - h.tau * ops::matmul(h.v, ops::matmul(adjoint_of(h.v), x));
}
Tensor reflected_back(const Reflector& h, const Tensor& x) {
  return x - conj(h.tau) * ops::matmul(h.v, ops::matmul(adjoint_of(h.v), x));
}

std::vector<Reflector> reflectors_of(const Tensor& input, const Tensor& tau) {
  const int64_t count = tau.size(-1);
  const Tensor columns = unit_columns(input, count);
  std::vector<Reflector> reflectors;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor factor = ops::unsqueeze(ops::narrow(tau, -1, i, 1), -1);
    reflectors.push_back({ops::narrow(columns, -1, i, 1), factor});
  }
  return reflectors;
}

// What reflector i was applied to, and the gradient that reaches it from the left.
struct Step {
  Reflector h;
  Tensor s;
  Tensor g;
};

std::vector<Step> steps_of(const Tensor& grad, const Tensor& input, const Tensor& tau,
                           const Tensor& start) {
  const std::vector<Reflector> reflectors = reflectors_of(input, tau);
  std::vector<Step> steps(reflectors.size());
  Tensor s = start;
  for (size_t i = reflectors.size(); i-- > 0;) {
    steps[i].s = s;
    s = reflected(reflectors[i], s);
  }
  Tensor g = grad;
  for (size_t i = 0; i < reflectors.size(); ++i) {
    steps[i].h = reflectors[i];
    steps[i].g = g;
    g = reflected_back(reflectors[i], g);
  }
  return steps;
}

Tensor columns_grad(const std::vector<Step>& steps, const Tensor& input) {
  std::vector<Tensor> columns;
  for (const auto& [h, s, g] : steps) {
    const Tensor mv = ops::matmul(g, ops::matmul(adjoint_of(s), h.v));
    const Tensor mhv = ops::matmul(s, ops::matmul(adjoint_of(g), h.v));
    columns.push_back(-(conj(h.tau) * mv + h.tau * mhv));
  }
  const int64_t rest = input.size(-1) - static_cast<int64_t>(steps.size());
  if (steps.empty()) return ops::zeros_like(input);
  return ops::constant_pad_nd(ops::tril(ops::cat(columns, -1), -1), {0, rest});
}

Tensor factors_grad(const std::vector<Step>& steps, const Tensor& tau) {
  if (steps.empty()) return ops::zeros_like(tau);
  std::vector<Tensor> factors;
  for (const auto& [h, s, g] : steps)
    factors.push_back(
        -ops::matmul(ops::matmul(adjoint_of(h.v), g), ops::matmul(adjoint_of(s), h.v)));
  return ops::squeeze(ops::cat(factors, -1), -2);
}

Tensor identity_like(const Tensor& t) {
  return ops::eye(t.size(-2), t.size(-1), t.dtype(), t.device());
}

std::vector<Step> ormqr_steps(const Tensor& grad, const Tensor& input, const Tensor& tau,
                              const Tensor& other, bool left, bool transpose) {
  const Tensor g = left ? grad : adjoint_of(grad);
  const Tensor c = left ? other : adjoint_of(other);
  return left == transpose ? steps_of(c, input, tau, g) : steps_of(g, input, tau, c);
}

}  // namespace

Tensor householder_backward(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  return columns_grad(steps_of(grad, input, tau, identity_like(grad)), input);
}
Tensor householder_tau_backward(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  return factors_grad(steps_of(grad, input, tau, identity_like(grad)), tau);
}

Tensor ormqr_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                      const Tensor& other, bool left, bool transpose) {
  return columns_grad(ormqr_steps(grad, input, tau, other, left, transpose), input);
}
Tensor ormqr_tau_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                          const Tensor& other, bool left, bool transpose) {
  return factors_grad(ormqr_steps(grad, input, tau, other, left, transpose), tau);
}

}  // namespace fb::autograd::formula
