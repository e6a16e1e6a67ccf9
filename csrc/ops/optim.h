// Steps of optimisers: what the options of a rule mean at each step, and the rows of tensors that a
// step updates.
//
// A rule holds the options of a step and has
//   Numbers            what its kernel wants to know
//   kScalars, kStates  how many tensors it keeps of each parameter: of one element, and like it
//   uses(k)            whether the options ask for a state
//   at(scalars, new)   the numbers of the next step; moves the scalars on
//   run(tensors)       the kernel
//
// Note [Steps without lists]: the operators (gen/ops/optim.h) take lists of tensors and check them.
// The step of an optimiser in bind/optim.cpp has looked at every tensor already, to see what a
// kernel can take; counted handles in lists and a second check would make small steps slow. So
// while no observer is on it hands its rows to step(), which the operators end in too.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/tensor.h"
#include "kernel/table.h"

namespace fb::ops::optim {

// The numbers that a parameter's state keeps as tensors, rounded to the tensors' type.
template <size_t N>
struct Scalars {
  std::array<double, N> values = {};
  std::array<bool, N> single = {};  // float32, else float64

  double set(size_t i, double value) {
    return values[i] = single[i] ? static_cast<float>(value) : value;
  }
  double multiply(size_t i, double factor) {
    return set(i, single[i] ? static_cast<float>(values[i]) * static_cast<float>(factor)
                            : values[i] * factor);
  }
  bool operator==(const Scalars&) const = default;
};

using Tensors = std::span<const kernel::OptimTensor>;

// What a kernel can take: dense tensors of the same type and strides. Their devices are compared
// separately, as they hardly ever differ.
inline bool lies_like(const TensorImpl& t, const TensorImpl& param) {
  return t.dtype == param.dtype && t.sizes() == param.sizes() &&
         ((t.contiguous && param.contiguous) || t.strides() == param.strides()) &&
         !(t.flags & (kBatched | kDual | kSparse | kInference)) && !t.is_promised();
}
inline bool is_parameter(const TensorImpl& param) {
  return (is_floating(param.dtype) || is_complex(param.dtype)) &&
         !(param.flags & (kSparse | kInference)) && !param.is_promised() &&
         (param.contiguous || is_dense(param.sizes(), param.strides()));
}
inline bool is_scalar(const TensorImpl& t) {
  return t.numel == 1 && (t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64) &&
         !(t.flags & ~kCut);
}

// The tensors of one parameter, borrowed. Scalars are in the host's memory.
template <class Rule>
struct Row {
  TensorImpl* param;
  TensorImpl* grad;
  std::array<TensorImpl*, Rule::kStates> states;  // null where the options ask for none
  std::array<TensorImpl*, Rule::kScalars> scalars;
  bool is_new;  // the state is new
};

// Takes a step with tensors on one device and advances the scalars.
template <class Rule>
void step(const Rule& rule, std::span<const Row<Rule>> rows);

// --- the rules

struct Sgd {
  using Numbers = kernel::SgdNumbers;
  static constexpr size_t kScalars = 0, kStates = 1;  // momentum_buffer
  bool maximize, nesterov;
  double weight_decay, momentum, dampening, lr;

  bool uses(size_t) const { return momentum != 0; }
  Numbers at(Scalars<0>&, bool is_new) const {
    return {maximize, nesterov, is_new, weight_decay, momentum, 1 - dampening, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_sgd(tensors); }
};

struct Adam {
  using Numbers = kernel::AdamNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 3;   // exp_avg, exp_avg_sq, max_exp_avg_sq
  bool maximize, amsgrad, decoupled;
  double weight_decay, beta1, beta2, eps, lr;

  bool uses(size_t k) const { return k < 2 || amsgrad; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    return {maximize,
            decoupled ? 0 : weight_decay,
            decoupled ? 1 - lr * weight_decay : 1,
            beta1,
            beta2,
            eps,
            lr / (1 - std::pow(beta1, step)),
            std::pow(1 - std::pow(beta2, step), 0.5)};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_adam(tensors); }
};

struct Adamax {
  using Numbers = kernel::AdamaxNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 2;   // exp_avg, exp_inf
  bool maximize;
  double weight_decay, beta1, beta2, eps, lr;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, beta1, beta2, eps, lr / (1 - std::pow(beta1, step))};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_adamax(tensors); }
};

struct NAdam {
  using Numbers = kernel::NAdamNumbers;
  static constexpr size_t kScalars = 2;  // step, mu_product
  static constexpr size_t kStates = 2;   // exp_avg, exp_avg_sq
  bool maximize, decoupled;
  double weight_decay, beta1, beta2, eps, lr, momentum_decay;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    const double mu = momentum_at(step), next = momentum_at(step + 1);
    const double product = scalars.multiply(1, mu);
    return {maximize,
            decoupled ? 0 : weight_decay,
            decoupled ? 1 - lr * weight_decay : 1,
            beta1,
            beta2,
            eps,
            1 - std::pow(beta2, step),
            -lr * (1 - mu) / (1 - product),
            -lr * next / (1 - product * next)};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_nadam(tensors); }

 private:
  double momentum_at(double step) const {
    return beta1 * (1 - 0.5 * std::pow(0.96, step * momentum_decay));
  }
};

struct RAdam {
  using Numbers = kernel::RAdamNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 2;   // exp_avg, exp_avg_sq
  bool maximize, decoupled;
  double weight_decay, beta1, beta2, eps, lr;

  bool uses(size_t) const { return true; }
  // Until the average of squares is long enough (rho > 5), its variance is too large to use it.
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    const double power = std::pow(beta2, step), correction = 1 - power;
    const double longest = 2 / (1 - beta2) - 1;
    const double rho = longest - 2 * step * power / correction;
    const double rectification =
        (rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho);
    return {maximize,
            rho > 5,
            decoupled ? 0 : weight_decay,
            decoupled ? 1 - lr * weight_decay : 1,
            beta1,
            beta2,
            eps,
            lr,
            1 - std::pow(beta1, step),
            std::pow(correction, 0.5),
            std::pow(rectification, 0.5)};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_radam(tensors); }
};

struct Rmsprop {
  using Numbers = kernel::RmspropNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 3;   // square_avg, grad_avg, momentum_buffer
  bool maximize, centered;
  double weight_decay, alpha, eps, momentum, lr;

  bool uses(size_t k) const { return k == 0 || (k == 1 ? centered : momentum > 0); }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, alpha, eps, momentum, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_rmsprop(tensors); }
};

struct Adagrad {
  using Numbers = kernel::AdagradNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 1;   // sum
  bool maximize;
  double weight_decay, eps, lr, lr_decay;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, eps, lr / (1 + (step - 1) * lr_decay)};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_adagrad(tensors); }
};

struct Adadelta {
  using Numbers = kernel::AdadeltaNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 2;   // square_avg, acc_delta
  bool maximize;
  double weight_decay, rho, eps, lr;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, rho, eps, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) {
    kernels.optim_adadelta(tensors);
  }
};

struct Rprop {
  using Numbers = kernel::RpropNumbers;
  static constexpr size_t kScalars = 1;  // step
  static constexpr size_t kStates = 2;   // prev, step_size
  bool maximize;
  double shrink, grow, least, most;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, shrink, grow, least, most};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_rprop(tensors); }
};

struct Asgd {
  using Numbers = kernel::AsgdNumbers;
  static constexpr size_t kScalars = 3;  // step, eta, mu
  static constexpr size_t kStates = 1;   // ax
  bool maximize;
  double weight_decay, lambd, alpha, t0, lr;

  bool uses(size_t) const { return true; }
  Numbers at(Scalars<kScalars>& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    const double eta = scalars.values[1], mu = scalars.values[2];
    scalars.set(1, rounded(lr / std::pow(1 + lambd * lr * step, alpha)));
    scalars.set(2, rounded(1 / std::max(1.0, step - t0)));
    return {maximize, weight_decay, 1 - lambd * eta, eta, mu};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_asgd(tensors); }

 private:
  // As in PyTorch, the numbers become tensors of the default type before they enter the state.
  static double rounded(double value) {
    return default_dtype() == DType::kFloat64 ? value : static_cast<float>(value);
  }
};

}  // namespace fb::ops::optim
