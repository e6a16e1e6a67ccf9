// What the options of a parameter group come to at each step: one rule for each optimiser.
//
// A rule has
//   Numbers            what its kernel wants to know
//   kScalars, kStates  the names of its state: tensors of one element, and tensors like the
//                      parameter
//   uses(k)            whether the options ask for a state
//   at(scalars, new)   the numbers of the next step; moves the scalars on
//   run(tensors)       the kernel
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "bind/tensor_object.h"
#include "kernel/table.h"

namespace fb::bind::optim {

// Names as Python objects, made once: a lookup compares pointers.
struct Names {
  PyObject* acc_delta = PyUnicode_InternFromString("acc_delta");
  PyObject* alpha = PyUnicode_InternFromString("alpha");
  PyObject* amsgrad = PyUnicode_InternFromString("amsgrad");
  PyObject* ax = PyUnicode_InternFromString("ax");
  PyObject* betas = PyUnicode_InternFromString("betas");
  PyObject* capturable = PyUnicode_InternFromString("capturable");
  PyObject* centered = PyUnicode_InternFromString("centered");
  PyObject* dampening = PyUnicode_InternFromString("dampening");
  PyObject* decoupled_weight_decay = PyUnicode_InternFromString("decoupled_weight_decay");
  PyObject* differentiable = PyUnicode_InternFromString("differentiable");
  PyObject* eps = PyUnicode_InternFromString("eps");
  PyObject* eta = PyUnicode_InternFromString("eta");
  PyObject* etas = PyUnicode_InternFromString("etas");
  PyObject* exp_avg = PyUnicode_InternFromString("exp_avg");
  PyObject* exp_avg_sq = PyUnicode_InternFromString("exp_avg_sq");
  PyObject* exp_inf = PyUnicode_InternFromString("exp_inf");
  PyObject* found_inf = PyUnicode_InternFromString("found_inf");
  PyObject* grad_avg = PyUnicode_InternFromString("grad_avg");
  PyObject* lambd = PyUnicode_InternFromString("lambd");
  PyObject* lr = PyUnicode_InternFromString("lr");
  PyObject* lr_decay = PyUnicode_InternFromString("lr_decay");
  PyObject* max_exp_avg_sq = PyUnicode_InternFromString("max_exp_avg_sq");
  PyObject* maximize = PyUnicode_InternFromString("maximize");
  PyObject* momentum = PyUnicode_InternFromString("momentum");
  PyObject* momentum_buffer = PyUnicode_InternFromString("momentum_buffer");
  PyObject* momentum_decay = PyUnicode_InternFromString("momentum_decay");
  PyObject* mu = PyUnicode_InternFromString("mu");
  PyObject* mu_product = PyUnicode_InternFromString("mu_product");
  PyObject* nesterov = PyUnicode_InternFromString("nesterov");
  PyObject* params = PyUnicode_InternFromString("params");
  PyObject* prev = PyUnicode_InternFromString("prev");
  PyObject* rho = PyUnicode_InternFromString("rho");
  PyObject* square_avg = PyUnicode_InternFromString("square_avg");
  PyObject* step = PyUnicode_InternFromString("step");
  PyObject* step_size = PyUnicode_InternFromString("step_size");
  PyObject* step_sizes = PyUnicode_InternFromString("step_sizes");
  PyObject* sum = PyUnicode_InternFromString("sum");
  PyObject* t0 = PyUnicode_InternFromString("t0");
  PyObject* weight_decay = PyUnicode_InternFromString("weight_decay");
  PyObject* param_groups = PyUnicode_InternFromString("param_groups");
  PyObject* state = PyUnicode_InternFromString("state");
  PyObject* init_state = PyUnicode_InternFromString("_fb_init_state");
  PyObject* scale_back = PyUnicode_InternFromString("_fb_scale_back");
  PyObject* step_composed = PyUnicode_InternFromString("_fb_step_composed");
};
inline const Names* names = nullptr;

// A parameter group. What a kernel cannot take is noted: the step is composed of operators then.
class Options {
 public:
  explicit Options(PyObject* group) : group_(group) {}

  // Values are held while they are read: that may run their code, and drop them.
  double number(PyObject* name) {
    PyObject* value = get(name);
    if (PyFloat_CheckExact(value)) return PyFloat_AS_DOUBLE(value);
    const Ref kept(new_ref(value));
    return real(value);
  }
  bool flag(PyObject* name) {
    const Ref kept(new_ref(get(name)));
    const int value = PyObject_IsTrue(kept.get());
    if (value < 0) throw PythonError{};
    return value;
  }
  // Of a pair such as `betas`.
  double number(PyObject* name, Py_ssize_t index) {
    const Ref pair(new_ref(get(name)));
    const Ref item = checked(PySequence_GetItem(pair.get(), index));
    return real(item.get());
  }
  PyObject* get(PyObject* name) const;  // borrowed

  bool is_plain() const { return plain_; }
  void refuse() { plain_ = false; }

 private:
  double real(PyObject* value);

  PyObject* group_;
  bool plain_ = true;
};

inline constexpr size_t kMostScalars = 3;

// The numbers that a parameter's state keeps as tensors, rounded as those round.
struct Scalars {
  std::array<double, kMostScalars> values = {};
  std::array<bool, kMostScalars> single = {};  // float32, else float64

  double set(size_t i, double value) {
    return values[i] = single[i] ? static_cast<float>(value) : value;
  }
  double multiply(size_t i, double factor) {
    return set(i, single[i] ? static_cast<float>(values[i]) * static_cast<float>(factor)
                            : values[i] * factor);
  }
  bool operator==(const Scalars&) const = default;
};

template <size_t N>
using NameList = std::array<PyObject * Names::*, N>;
using Tensors = std::span<const kernel::OptimTensor>;

struct Sgd {
  using Numbers = kernel::SgdNumbers;
  static constexpr NameList<0> kScalars = {};
  static constexpr NameList<1> kStates = {&Names::momentum_buffer};
  bool maximize, nesterov;
  double weight_decay, momentum, dampening, lr;

  explicit Sgd(Options& group)
      : maximize(group.flag(names->maximize)),
        nesterov(group.flag(names->nesterov)),
        weight_decay(group.number(names->weight_decay)),
        momentum(group.number(names->momentum)),
        dampening(group.number(names->dampening)),
        lr(group.number(names->lr)) {}
  bool uses(size_t) const { return momentum != 0; }
  Numbers at(Scalars&, bool is_new) const {
    return {maximize, nesterov, is_new, weight_decay, momentum, 1 - dampening, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_sgd(tensors); }
};

struct Adam {
  using Numbers = kernel::AdamNumbers;
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<3> kStates = {&Names::exp_avg, &Names::exp_avg_sq,
                                          &Names::max_exp_avg_sq};
  bool maximize, amsgrad, decoupled;
  double weight_decay, beta1, beta2, eps, lr;

  explicit Adam(Options& group)
      : maximize(group.flag(names->maximize)),
        amsgrad(group.flag(names->amsgrad)),
        decoupled(group.flag(names->decoupled_weight_decay)),
        weight_decay(group.number(names->weight_decay)),
        beta1(group.number(names->betas, 0)),
        beta2(group.number(names->betas, 1)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)) {}
  bool uses(size_t k) const { return k < 2 || amsgrad; }
  Numbers at(Scalars& scalars, bool) const {
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
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_inf};
  bool maximize;
  double weight_decay, beta1, beta2, eps, lr;

  explicit Adamax(Options& group)
      : maximize(group.flag(names->maximize)),
        weight_decay(group.number(names->weight_decay)),
        beta1(group.number(names->betas, 0)),
        beta2(group.number(names->betas, 1)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, beta1, beta2, eps, lr / (1 - std::pow(beta1, step))};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_adamax(tensors); }
};

struct NAdam {
  using Numbers = kernel::NAdamNumbers;
  static constexpr NameList<2> kScalars = {&Names::step, &Names::mu_product};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_avg_sq};
  bool maximize, decoupled;
  double weight_decay, beta1, beta2, eps, lr, momentum_decay;

  explicit NAdam(Options& group)
      : maximize(group.flag(names->maximize)),
        decoupled(group.flag(names->decoupled_weight_decay)),
        weight_decay(group.number(names->weight_decay)),
        beta1(group.number(names->betas, 0)),
        beta2(group.number(names->betas, 1)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)),
        momentum_decay(group.number(names->momentum_decay)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
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
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_avg_sq};
  bool maximize, decoupled;
  double weight_decay, beta1, beta2, eps, lr;

  explicit RAdam(Options& group)
      : maximize(group.flag(names->maximize)),
        decoupled(group.flag(names->decoupled_weight_decay)),
        weight_decay(group.number(names->weight_decay)),
        beta1(group.number(names->betas, 0)),
        beta2(group.number(names->betas, 1)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)) {}
  bool uses(size_t) const { return true; }
  // Until the average of squares is long enough (rho > 5), its variance is too large to use it.
  Numbers at(Scalars& scalars, bool) const {
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
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<3> kStates = {&Names::square_avg, &Names::grad_avg,
                                          &Names::momentum_buffer};
  bool maximize, centered;
  double weight_decay, alpha, eps, momentum, lr;

  explicit Rmsprop(Options& group)
      : maximize(group.flag(names->maximize)),
        centered(group.flag(names->centered)),
        weight_decay(group.number(names->weight_decay)),
        alpha(group.number(names->alpha)),
        eps(group.number(names->eps)),
        momentum(group.number(names->momentum)),
        lr(group.number(names->lr)) {}
  bool uses(size_t k) const { return k == 0 || (k == 1 ? centered : momentum > 0); }
  Numbers at(Scalars& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, alpha, eps, momentum, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_rmsprop(tensors); }
};

struct Adagrad {
  using Numbers = kernel::AdagradNumbers;
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<1> kStates = {&Names::sum};
  bool maximize;
  double weight_decay, eps, lr, lr_decay;

  explicit Adagrad(Options& group)
      : maximize(group.flag(names->maximize)),
        weight_decay(group.number(names->weight_decay)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)),
        lr_decay(group.number(names->lr_decay)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, eps, lr / (1 + (step - 1) * lr_decay)};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_adagrad(tensors); }
};

struct Adadelta {
  using Numbers = kernel::AdadeltaNumbers;
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::square_avg, &Names::acc_delta};
  bool maximize;
  double weight_decay, rho, eps, lr;

  explicit Adadelta(Options& group)
      : maximize(group.flag(names->maximize)),
        weight_decay(group.number(names->weight_decay)),
        rho(group.number(names->rho)),
        eps(group.number(names->eps)),
        lr(group.number(names->lr)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, weight_decay, rho, eps, lr};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) {
    kernels.optim_adadelta(tensors);
  }
};

struct Rprop {
  using Numbers = kernel::RpropNumbers;
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::prev, &Names::step_size};
  bool maximize;
  double shrink, grow, least, most;

  explicit Rprop(Options& group)
      : maximize(group.flag(names->maximize)),
        shrink(group.number(names->etas, 0)),
        grow(group.number(names->etas, 1)),
        least(group.number(names->step_sizes, 0)),
        most(group.number(names->step_sizes, 1)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
    scalars.set(0, scalars.values[0] + 1);
    return {maximize, shrink, grow, least, most};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_rprop(tensors); }
};

struct Asgd {
  using Numbers = kernel::AsgdNumbers;
  static constexpr NameList<3> kScalars = {&Names::step, &Names::eta, &Names::mu};
  static constexpr NameList<1> kStates = {&Names::ax};
  bool maximize;
  double weight_decay, lambd, alpha, t0, lr;

  explicit Asgd(Options& group)
      : maximize(group.flag(names->maximize)),
        weight_decay(group.number(names->weight_decay)),
        lambd(group.number(names->lambd)),
        alpha(group.number(names->alpha)),
        t0(group.number(names->t0)),
        lr(group.number(names->lr)) {}
  bool uses(size_t) const { return true; }
  Numbers at(Scalars& scalars, bool) const {
    const double step = scalars.set(0, scalars.values[0] + 1);
    const double eta = scalars.values[1], mu = scalars.values[2];
    scalars.set(1, rounded(lr / std::pow(1 + lambd * lr * step, alpha)));
    scalars.set(2, rounded(1 / std::max(1.0, step - t0)));
    return {maximize, weight_decay, 1 - lambd * eta, eta, mu};
  }
  static void run(const kernel::Table& kernels, Tensors tensors) { kernels.optim_asgd(tensors); }

 private:
  // As PyTorch has it: the numbers become tensors of the default type on their way into the state.
  static double rounded(double value) {
    return default_dtype() == DType::kFloat64 ? value : static_cast<float>(value);
  }
};

}  // namespace fb::bind::optim
