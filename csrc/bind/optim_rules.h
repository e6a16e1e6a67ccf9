// The rules of csrc/ops/optim.h as optimisers use them: which options of a parameter group they
// consist of, the names of their state, and the operator that takes their step.
//
// Binding<Rule> has
//   kScalars, kStates  the names of the state: tensors of one element, and tensors like the
//                      parameter
//   of(group)          the rule
//   call(rule, lists)  the operator
#pragma once

#include <array>
#include <vector>

#include "bind/tensor_object.h"
#include "gen/ops/optim.h"
#include "ops/optim.h"

namespace fb::bind::optim {

using ops::optim::Adadelta;
using ops::optim::Adagrad;
using ops::optim::Adam;
using ops::optim::Adamax;
using ops::optim::Asgd;
using ops::optim::NAdam;
using ops::optim::RAdam;
using ops::optim::Rmsprop;
using ops::optim::Row;
using ops::optim::Rprop;
using ops::optim::Sgd;

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

// A parameter group. Notes what a kernel cannot take: then the step is composed of operators.
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
    PyObject* const value = get(name);
    if (PyTuple_CheckExact(value) && index < PyTuple_GET_SIZE(value)) {
      PyObject* const item = PyTuple_GET_ITEM(value, index);
      if (PyFloat_CheckExact(item)) return PyFloat_AS_DOUBLE(item);
    }
    const Ref pair(new_ref(value));
    const Ref item = checked(PySequence_GetItem(pair.get(), index));
    return real(item.get());
  }
  PyObject* get(PyObject* name) const;  // borrowed

  // Whether a kernel can take a step with them.
  bool suit_kernels() const { return suit_kernels_; }
  void refuse() { suit_kernels_ = false; }

 private:
  double real(PyObject* value);

  PyObject* group_;
  bool suit_kernels_ = true;
};

template <size_t N>
using NameList = std::array<PyObject * Names::*, N>;

// Rows as the operators take them. Lists of states that the options do not ask for are empty.
template <class Rule>
struct Lists {
  explicit Lists(std::span<const Row<Rule>> rows) {
    for (const Row<Rule>& row : rows) {
      params.push_back(Tensor::retain(row.param));
      grads.push_back(Tensor::retain(row.grad));
      for (size_t k = 0; k < states.size(); ++k)
        if (row.states[k]) states[k].push_back(Tensor::retain(row.states[k]));
      for (size_t k = 0; k < scalars.size(); ++k)
        scalars[k].push_back(Tensor::retain(row.scalars[k]));
    }
    is_new = rows.front().is_new;
  }
  std::vector<Tensor> params, grads;
  std::array<std::vector<Tensor>, Rule::kStates> states;
  std::array<std::vector<Tensor>, Rule::kScalars> scalars;
  bool is_new;
};

template <class Rule>
struct Binding;

template <>
struct Binding<Sgd> {
  static constexpr NameList<0> kScalars = {};
  static constexpr NameList<1> kStates = {&Names::momentum_buffer};

  static Sgd of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .nesterov = group.flag(names->nesterov),
            .weight_decay = group.number(names->weight_decay),
            .momentum = group.number(names->momentum),
            .dampening = group.number(names->dampening),
            .lr = group.number(names->lr)};
  }
  static void call(const Sgd& r, const Lists<Sgd>& on) {
    ops::_fused_sgd_(on.params, on.grads, on.states[0], r.weight_decay, r.momentum, r.lr,
                     r.dampening, r.nesterov, r.maximize, on.is_new);
  }
};

template <>
struct Binding<Adam> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<3> kStates = {&Names::exp_avg, &Names::exp_avg_sq,
                                          &Names::max_exp_avg_sq};

  static Adam of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .amsgrad = group.flag(names->amsgrad),
            .decoupled = group.flag(names->decoupled_weight_decay),
            .weight_decay = group.number(names->weight_decay),
            .beta1 = group.number(names->betas, 0),
            .beta2 = group.number(names->betas, 1),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr)};
  }
  static void call(const Adam& r, const Lists<Adam>& on) {
    const auto step = [&](auto&& fused) {
      fused(on.params, on.grads, on.states[0], on.states[1], on.states[2], on.scalars[0]);
    };
    if (r.decoupled)
      step([&](auto&... lists) {
        ops::_fused_adamw_(lists..., r.lr, r.beta1, r.beta2, r.weight_decay, r.eps, r.amsgrad,
                           r.maximize, {}, {}, true);
      });
    else
      step([&](auto&... lists) {
        ops::_fused_adam_(lists..., r.lr, r.beta1, r.beta2, r.weight_decay, r.eps, r.amsgrad,
                          r.maximize, {}, {}, true);
      });
  }
};

template <>
struct Binding<Adamax> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_inf};

  static Adamax of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .weight_decay = group.number(names->weight_decay),
            .beta1 = group.number(names->betas, 0),
            .beta2 = group.number(names->betas, 1),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr)};
  }
  static void call(const Adamax& r, const Lists<Adamax>& on) {
    ops::_fused_adamax_(on.params, on.grads, on.states[0], on.states[1], on.scalars[0], r.lr,
                        r.beta1, r.beta2, r.weight_decay, r.eps, r.maximize);
  }
};

template <>
struct Binding<NAdam> {
  static constexpr NameList<2> kScalars = {&Names::step, &Names::mu_product};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_avg_sq};

  static NAdam of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .decoupled = group.flag(names->decoupled_weight_decay),
            .weight_decay = group.number(names->weight_decay),
            .beta1 = group.number(names->betas, 0),
            .beta2 = group.number(names->betas, 1),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr),
            .momentum_decay = group.number(names->momentum_decay)};
  }
  static void call(const NAdam& r, const Lists<NAdam>& on) {
    ops::_fused_nadam_(on.params, on.grads, on.states[0], on.states[1], on.scalars[1],
                       on.scalars[0], r.lr, r.beta1, r.beta2, r.weight_decay, r.eps,
                       r.momentum_decay, r.decoupled, r.maximize);
  }
};

template <>
struct Binding<RAdam> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::exp_avg, &Names::exp_avg_sq};

  static RAdam of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .decoupled = group.flag(names->decoupled_weight_decay),
            .weight_decay = group.number(names->weight_decay),
            .beta1 = group.number(names->betas, 0),
            .beta2 = group.number(names->betas, 1),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr)};
  }
  static void call(const RAdam& r, const Lists<RAdam>& on) {
    ops::_fused_radam_(on.params, on.grads, on.states[0], on.states[1], on.scalars[0], r.lr,
                       r.beta1, r.beta2, r.weight_decay, r.eps, r.decoupled, r.maximize);
  }
};

template <>
struct Binding<Rmsprop> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<3> kStates = {&Names::square_avg, &Names::grad_avg,
                                          &Names::momentum_buffer};

  static Rmsprop of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .centered = group.flag(names->centered),
            .weight_decay = group.number(names->weight_decay),
            .alpha = group.number(names->alpha),
            .eps = group.number(names->eps),
            .momentum = group.number(names->momentum),
            .lr = group.number(names->lr)};
  }
  static void call(const Rmsprop& r, const Lists<Rmsprop>& on) {
    ops::_fused_rmsprop_(on.params, on.grads, on.states[0], on.states[1], on.states[2],
                         on.scalars[0], r.lr, r.alpha, r.eps, r.weight_decay, r.momentum,
                         r.centered, r.maximize);
  }
};

template <>
struct Binding<Adagrad> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<1> kStates = {&Names::sum};

  static Adagrad of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .weight_decay = group.number(names->weight_decay),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr),
            .lr_decay = group.number(names->lr_decay)};
  }
  static void call(const Adagrad& r, const Lists<Adagrad>& on) {
    ops::_fused_adagrad_(on.params, on.grads, on.states[0], on.scalars[0], r.lr, r.lr_decay,
                         r.weight_decay, r.eps, r.maximize, {}, {}, true);
  }
};

template <>
struct Binding<Adadelta> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::square_avg, &Names::acc_delta};

  static Adadelta of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .weight_decay = group.number(names->weight_decay),
            .rho = group.number(names->rho),
            .eps = group.number(names->eps),
            .lr = group.number(names->lr)};
  }
  static void call(const Adadelta& r, const Lists<Adadelta>& on) {
    ops::_fused_adadelta_(on.params, on.grads, on.states[0], on.states[1], on.scalars[0], r.lr,
                          r.rho, r.eps, r.weight_decay, r.maximize);
  }
};

template <>
struct Binding<Rprop> {
  static constexpr NameList<1> kScalars = {&Names::step};
  static constexpr NameList<2> kStates = {&Names::prev, &Names::step_size};

  static Rprop of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .shrink = group.number(names->etas, 0),
            .grow = group.number(names->etas, 1),
            .least = group.number(names->step_sizes, 0),
            .most = group.number(names->step_sizes, 1)};
  }
  static void call(const Rprop& r, const Lists<Rprop>& on) {
    ops::_fused_rprop_(on.params, on.grads, on.states[0], on.states[1], on.scalars[0], r.shrink,
                       r.grow, r.least, r.most, r.maximize);
  }
};

template <>
struct Binding<Asgd> {
  static constexpr NameList<3> kScalars = {&Names::step, &Names::eta, &Names::mu};
  static constexpr NameList<1> kStates = {&Names::ax};

  static Asgd of(Options& group) {
    return {.maximize = group.flag(names->maximize),
            .weight_decay = group.number(names->weight_decay),
            .lambd = group.number(names->lambd),
            .alpha = group.number(names->alpha),
            .t0 = group.number(names->t0),
            .lr = group.number(names->lr)};
  }
  static void call(const Asgd& r, const Lists<Asgd>& on) {
    ops::_fused_asgd_(on.params, on.grads, on.states[0], on.scalars[1], on.scalars[2],
                      on.scalars[0], r.lr, r.lambd, r.alpha, r.t0, r.weight_decay, r.maximize);
  }
};

}  // namespace fb::bind::optim
