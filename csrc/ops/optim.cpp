// Steps of optimisers with lists of parameters, gradients and state.
#include "ops/optim.h"

#include "core/error.h"
#include "gen/ops/arith.h"
#include "gen/ops/optim.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/host.h"
#include "ops/layout.h"
#include "ops/output.h"

namespace fb::ops {
namespace optim {
namespace {

void* data_of(const TensorImpl& t) {
  return static_cast<char*>(t.storage->data) + t.offset * static_cast<int64_t>(size_of(t.dtype));
}

void note_write(TensorImpl& t) {
  ++t.storage->version;
  if (t.storage->watched) [[unlikely]]
    autograd::note_change(*t.storage.get(), "step");
}

// --- the numbers of a step

template <size_t N>
Scalars<N> read_scalars(const std::array<TensorImpl*, N>& tensors) {
  Scalars<N> scalars;
  for (size_t k = 0; k < N; ++k) {
    scalars.single[k] = tensors[k]->dtype == DType::kFloat32;
    scalars.values[k] = scalars.single[k] ? *static_cast<float*>(data_of(*tensors[k]))
                                          : *static_cast<double*>(data_of(*tensors[k]));
  }
  return scalars;
}

template <size_t N>
void write_scalars(const std::array<TensorImpl*, N>& tensors, const Scalars<N>& scalars) {
  for (size_t k = 0; k < N; ++k) {
    if (scalars.single[k])
      *static_cast<float*>(data_of(*tensors[k])) = static_cast<float>(scalars.values[k]);
    else
      *static_cast<double*>(data_of(*tensors[k])) = scalars.values[k];
    note_write(*tensors[k]);
  }
}

// The numbers of each row; advances its scalars unless that is done already. Most rows are at the
// same step and share their numbers.
template <class Rule, bool kAdvance>
class NumbersOfStep {
 public:
  NumbersOfStep(const Rule& rule, size_t most) : rule_(rule) { numbers_.reserve(most); }

  const void* of(const Row<Rule>& row) {
    auto before = read_scalars(row.scalars);
    if constexpr (!kAdvance) before.values[0] -= 1;
    if (numbers_.empty() || !(before == before_) || row.is_new != is_new_) {
      before_ = after_ = before;
      is_new_ = row.is_new;
      numbers_.push_back(rule_.at(after_, is_new_));
    }
    if constexpr (kAdvance) write_scalars(row.scalars, after_);
    return &numbers_.back();
  }

 private:
  const Rule& rule_;
  std::vector<typename Rule::Numbers> numbers_;
  Scalars<Rule::kScalars> before_, after_;
  bool is_new_ = false;
};

// --- rows

template <class Rule>
void fill_in(kernel::OptimTensor& t, const Row<Rule>& row, const void* numbers) {
  const DType dtype = row.param->dtype;
  t.param = data_of(*row.param);
  t.grad = data_of(*row.grad);
  for (size_t k = 0; k < row.states.size(); ++k)
    if (row.states[k]) t.state[k] = data_of(*row.states[k]);
  t.n = row.param->numel * (is_complex(dtype) ? 2 : 1);
  t.dtype = real_type(dtype);
  t.numbers = numbers;
}

// Whether a parameter is listed twice: its steps must then be taken one after the other.
bool has_repeats(Tensors tensors) {
  std::vector<const void*> params;
  for (const kernel::OptimTensor& t : tensors) params.push_back(t.param);
  std::sort(params.begin(), params.end());
  return std::adjacent_find(params.begin(), params.end()) != params.end();
}

// Runs a kernel that may release the interpreter's lock. Other threads may then drop a tensor or
// replace its memory, so the memory is held.
template <class Rule>
void run_held(const kernel::Table& kernels, std::span<const Row<Rule>> rows, Tensors tensors) {
  std::vector<Storage> held;
  for (const Row<Rule>& row : rows) {
    held.push_back(row.param->storage);
    held.push_back(row.grad->storage);
    for (const TensorImpl* state : row.states)
      if (state) held.push_back(state->storage);
  }
  if (!has_repeats(tensors)) return Rule::run(kernels, tensors);
  for (size_t i = 0; i < tensors.size(); ++i) Rule::run(kernels, tensors.subspan(i, 1));
}

template <bool kAdvance, class Rule>
void step_rows(const Rule& rule, std::span<const Row<Rule>> rows) {
  NumbersOfStep<Rule, kAdvance> numbers(rule, rows.size());
  std::vector<kernel::OptimTensor> tensors(rows.size());
  int64_t total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    fill_in(tensors[i], rows[i], numbers.of(rows[i]));
    total += tensors[i].n;
  }
  const kernel::Table& kernels = kernel::of(rows.front().param->device);
  if (total > kernel::kSmallStep)
    run_held(kernels, rows, tensors);
  else
    Rule::run(kernels, tensors);
  for (const Row<Rule>& row : rows) {
    note_write(*row.param);
    for (TensorImpl* state : row.states)
      if (state) note_write(*state);
  }
}

// --- lists

struct NamedList {
  const char* name;
  TensorList list;
};

// The lists of an operator, and the optional ones of PyTorch's operators.
template <class Rule>
struct Lists {
  TensorList params, grads;
  std::array<NamedList, Rule::kStates> states;
  std::array<NamedList, Rule::kScalars> scalars;
  bool is_new = false;
  bool advance = true;
  Tensor grad_scale = {}, found_inf = {};
};

void check_length(const NamedList& given, size_t expected) {
  FB_CHECK(given.list.size() == expected, "expected as many ", given.name, " as parameters, ",
           expected, ", got ", given.list.size());
}

void check_parameter(const Tensor& param, size_t i, Device device) {
  FB_CHECK(is_floating(param.dtype()) || is_complex(param.dtype()),
           "expected parameters of floating-point or complex numbers, but number ", i,
           " is of type ", param.dtype());
  FB_CHECK(param.device() == device, "expected all parameters on one device, but number ", i,
           " is on ", param.device(), " and the first on ", device);
  FB_CHECK(param.is_contiguous() || is_dense(param.sizes(), param.strides()),
           "expected parameters without gaps and overlaps, but number ", i, " of shape ",
           param.sizes(), " has the strides ", param.strides());
}

void check_alike(const NamedList& given, size_t i, const Tensor& param) {
  const Tensor& t = given.list[i];
  FB_CHECK(t.dtype() == param.dtype() && t.device() == param.device() && t.sizes() == param.sizes(),
           "expected ", given.name, " like the parameters, but number ", i, " has type ", t.dtype(),
           " and shape ", t.sizes(), " on ", t.device(), " for a parameter of type ", param.dtype(),
           " and shape ", param.sizes(), " on ", param.device());
  FB_CHECK((t.is_contiguous() && param.is_contiguous()) || t.strides() == param.strides(),
           "expected ", given.name, " that lie in memory as the parameters do, but number ", i,
           " has the strides ", t.strides(), " for a parameter with ", param.strides());
}

void check_scalar(const NamedList& given, size_t i, const Tensor& param) {
  const Tensor& t = given.list[i];
  FB_CHECK(t.numel() == 1 && (t.dtype() == DType::kFloat32 || t.dtype() == DType::kFloat64),
           "expected ", given.name, " of one float32 or float64 element, but number ", i,
           " has type ", t.dtype(), " and shape ", t.sizes());
  FB_CHECK(t.device() == kHost || t.device() == param.device(), "expected ", given.name,
           " on cpu or beside the parameters on ", param.device(), ", but number ", i, " is on ",
           t.device());
}

// Tensors of one element, copied to the host's memory with a single wait for all of them.
class HostScalars {
 public:
  explicit HostScalars(TensorList given) : given_(given) {
    std::vector<Tensor> elsewhere;
    for (const Tensor& t : given)
      if (t.device() != kHost) elsewhere.push_back(ops::reshape(cast(t, DType::kFloat64), {}));
    const Tensor together = elsewhere.empty() ? Tensor() : on_host(ops::stack(elsewhere, 0));
    int64_t next = 0;
    for (const Tensor& t : given)
      taken_.push_back(t.device() == kHost ? t : cast(ops::select(together, 0, next++), t.dtype()));
  }
  const Tensor& operator[](size_t i) const { return taken_[i]; }

  void write_back() const {
    for (size_t i = 0; i < given_.size(); ++i) {
      if (taken_[i].is_same(given_[i])) continue;
      kernel::copy(given_[i], taken_[i]);
      note_write(*given_[i].get());
    }
  }

 private:
  TensorList given_;
  std::vector<Tensor> taken_;
};

template <class Rule>
void check(const Rule& rule, const Lists<Rule>& lists) {
  const size_t count = lists.params.size();
  const NamedList grads{"grads", lists.grads};
  check_length(grads, count);
  for (size_t k = 0; k < Rule::kStates; ++k)
    if (rule.uses(k)) check_length(lists.states[k], count);
  for (const NamedList& scalars : lists.scalars) check_length(scalars, count);
  for (size_t i = 0; i < count; ++i) {
    const Tensor& param = lists.params[i];
    settle(param);
    settle(lists.grads[i]);
    check_parameter(param, i, lists.params[0].device());
    check_alike(grads, i, param);
    for (size_t k = 0; k < Rule::kStates; ++k) {
      if (!rule.uses(k)) continue;
      settle(lists.states[k].list[i]);
      check_alike(lists.states[k], i, param);
    }
    for (const NamedList& scalars : lists.scalars) check_scalar(scalars, i, param);
  }
}

double number_in(const char* name, const Tensor& t) {
  FB_CHECK(t.numel() == 1, name, " must have one element, got shape ", t.sizes());
  return host_number(t).to<double>();
}

// Divides the gradients by the scale; returns whether to take the step.
bool scaled_back(TensorList grads, const Tensor& grad_scale, const Tensor& found_inf) {
  if (found_inf && number_in("found_inf", found_inf) != 0) return false;
  if (!grad_scale) return true;
  const double scale = number_in("grad_scale", grad_scale);
  for (const Tensor& grad : grads) ops::div_(grad, Scalar(scale));
  return true;
}

template <class Rule>
void step_lists(const Rule& rule, const Lists<Rule>& lists) {
  check(rule, lists);
  if (lists.params.empty() || lists.params[0]->is_promised()) return;
  if (!scaled_back(lists.grads, lists.grad_scale, lists.found_inf)) return;
  std::vector<HostScalars> scalars;
  for (const NamedList& each : lists.scalars) scalars.emplace_back(each.list);
  std::vector<Row<Rule>> rows(lists.params.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    Row<Rule>& row = rows[i];
    row.param = lists.params[i].get();
    row.grad = lists.grads[i].get();
    for (size_t k = 0; k < Rule::kStates; ++k)
      row.states[k] = rule.uses(k) ? lists.states[k].list[i].get() : nullptr;
    for (size_t k = 0; k < Rule::kScalars; ++k) row.scalars[k] = scalars[k][i].get();
    row.is_new = lists.is_new;
  }
  if (lists.advance) {
    step_rows<true>(rule, std::span<const Row<Rule>>(rows));
    for (const HostScalars& each : scalars) each.write_back();
  } else if constexpr (Rule::kScalars == 1) {
    step_rows<false>(rule, std::span<const Row<Rule>>(rows));
  }
}

}  // namespace

template <class Rule>
void step(const Rule& rule, std::span<const Row<Rule>> rows) {
  step_rows<true>(rule, rows);
}
template void step(const Sgd& rule, std::span<const Row<Sgd>> rows);
template void step(const Adam& rule, std::span<const Row<Adam>> rows);
template void step(const Adamax& rule, std::span<const Row<Adamax>> rows);
template void step(const NAdam& rule, std::span<const Row<NAdam>> rows);
template void step(const RAdam& rule, std::span<const Row<RAdam>> rows);
template void step(const Rmsprop& rule, std::span<const Row<Rmsprop>> rows);
template void step(const Adagrad& rule, std::span<const Row<Adagrad>> rows);
template void step(const Adadelta& rule, std::span<const Row<Adadelta>> rows);
template void step(const Rprop& rule, std::span<const Row<Rprop>> rows);
template void step(const Asgd& rule, std::span<const Row<Asgd>> rows);

namespace {

void step_adam(const Adam& rule, TensorList params, TensorList grads, TensorList exp_avgs,
               TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps,
               const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  step_lists(rule, {.params = params,
                    .grads = grads,
                    .states = {{{"exp_avgs", exp_avgs},
                                {"exp_avg_sqs", exp_avg_sqs},
                                {"max_exp_avg_sqs", max_exp_avg_sqs}}},
                    .scalars = {{{"state_steps", state_steps}}},
                    .advance = advance,
                    .grad_scale = grad_scale,
                    .found_inf = found_inf});
}

}  // namespace
}  // namespace optim

// --- PyTorch's operators

void compute::_fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs,
                           TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                           TensorList state_steps, double lr, double beta1, double beta2,
                           double weight_decay, double eps, bool amsgrad, bool maximize,
                           const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  const optim::Adam rule{maximize, amsgrad, false, weight_decay, beta1, beta2, eps, lr};
  optim::step_adam(rule, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                   grad_scale, found_inf, advance);
}

void compute::_fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs,
                           TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                           TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                           double weight_decay, double eps, bool amsgrad, bool maximize,
                           const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  compute::_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                        optim::number_in("lr", lr), beta1, beta2, weight_decay, eps, amsgrad,
                        maximize, grad_scale, found_inf, advance);
}

void compute::_fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs,
                            TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                            TensorList state_steps, double lr, double beta1, double beta2,
                            double weight_decay, double eps, bool amsgrad, bool maximize,
                            const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  const optim::Adam rule{maximize, amsgrad, true, weight_decay, beta1, beta2, eps, lr};
  optim::step_adam(rule, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                   grad_scale, found_inf, advance);
}

void compute::_fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs,
                            TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                            TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                            double weight_decay, double eps, bool amsgrad, bool maximize,
                            const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  compute::_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
                         optim::number_in("lr", lr), beta1, beta2, weight_decay, eps, amsgrad,
                         maximize, grad_scale, found_inf, advance);
}

void compute::_fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                          double weight_decay, double momentum, double lr, double dampening,
                          bool nesterov, bool maximize, bool is_first_step,
                          const Tensor& grad_scale, const Tensor& found_inf) {
  const optim::Sgd rule{maximize, nesterov, weight_decay, momentum, dampening, lr};
  optim::step_lists(rule, {.params = self,
                           .grads = grads,
                           .states = {{{"momentum_buffer_list", momentum_buffer_list}}},
                           .scalars = {},
                           .is_new = is_first_step,
                           .grad_scale = grad_scale,
                           .found_inf = found_inf});
}

void compute::_fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                          double weight_decay, double momentum, const Tensor& lr, double dampening,
                          bool nesterov, bool maximize, bool is_first_step,
                          const Tensor& grad_scale, const Tensor& found_inf) {
  compute::_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum,
                       optim::number_in("lr", lr), dampening, nesterov, maximize, is_first_step,
                       grad_scale, found_inf);
}

void compute::_fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums,
                              TensorList state_steps, double lr, double lr_decay,
                              double weight_decay, double eps, bool maximize,
                              const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  const optim::Adagrad rule{maximize, weight_decay, eps, lr, lr_decay};
  optim::step_lists(rule, {.params = self,
                           .grads = grads,
                           .states = {{{"state_sums", state_sums}}},
                           .scalars = {{{"state_steps", state_steps}}},
                           .advance = advance,
                           .grad_scale = grad_scale,
                           .found_inf = found_inf});
}

void compute::_fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums,
                              TensorList state_steps, const Tensor& lr, double lr_decay,
                              double weight_decay, double eps, bool maximize,
                              const Tensor& grad_scale, const Tensor& found_inf, bool advance) {
  compute::_fused_adagrad_(self, grads, state_sums, state_steps, optim::number_in("lr", lr),
                           lr_decay, weight_decay, eps, maximize, grad_scale, found_inf, advance);
}

// --- our own

void compute::_fused_adamax_(TensorList params, TensorList grads, TensorList exp_avgs,
                             TensorList exp_infs, TensorList state_steps, double lr, double beta1,
                             double beta2, double weight_decay, double eps, bool maximize) {
  const optim::Adamax rule{maximize, weight_decay, beta1, beta2, eps, lr};
  optim::step_lists(rule, {.params = params,
                           .grads = grads,
                           .states = {{{"exp_avgs", exp_avgs}, {"exp_infs", exp_infs}}},
                           .scalars = {{{"state_steps", state_steps}}}});
}

void compute::_fused_nadam_(TensorList params, TensorList grads, TensorList exp_avgs,
                            TensorList exp_avg_sqs, TensorList mu_products, TensorList state_steps,
                            double lr, double beta1, double beta2, double weight_decay, double eps,
                            double momentum_decay, bool decoupled_weight_decay, bool maximize) {
  const optim::NAdam rule{maximize, decoupled_weight_decay, weight_decay, beta1, beta2, eps,
                          lr,       momentum_decay};
  optim::step_lists(rule,
                    {.params = params,
                     .grads = grads,
                     .states = {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}}},
                     .scalars = {{{"state_steps", state_steps}, {"mu_products", mu_products}}}});
}

void compute::_fused_radam_(TensorList params, TensorList grads, TensorList exp_avgs,
                            TensorList exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                            double beta2, double weight_decay, double eps,
                            bool decoupled_weight_decay, bool maximize) {
  const optim::RAdam rule{maximize, decoupled_weight_decay, weight_decay, beta1, beta2, eps, lr};
  optim::step_lists(rule, {.params = params,
                           .grads = grads,
                           .states = {{{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}}},
                           .scalars = {{{"state_steps", state_steps}}}});
}

void compute::_fused_rmsprop_(TensorList params, TensorList grads, TensorList square_avgs,
                              TensorList grad_avgs, TensorList momentum_buffer_list,
                              TensorList state_steps, double lr, double alpha, double eps,
                              double weight_decay, double momentum, bool centered, bool maximize) {
  const optim::Rmsprop rule{maximize, centered, weight_decay, alpha, eps, momentum, lr};
  optim::step_lists(rule, {.params = params,
                           .grads = grads,
                           .states = {{{"square_avgs", square_avgs},
                                       {"grad_avgs", grad_avgs},
                                       {"momentum_buffer_list", momentum_buffer_list}}},
                           .scalars = {{{"state_steps", state_steps}}}});
}

void compute::_fused_adadelta_(TensorList params, TensorList grads, TensorList square_avgs,
                               TensorList acc_deltas, TensorList state_steps, double lr, double rho,
                               double eps, double weight_decay, bool maximize) {
  const optim::Adadelta rule{maximize, weight_decay, rho, eps, lr};
  optim::step_lists(rule, {.params = params,
                           .grads = grads,
                           .states = {{{"square_avgs", square_avgs}, {"acc_deltas", acc_deltas}}},
                           .scalars = {{{"state_steps", state_steps}}}});
}

void compute::_fused_rprop_(TensorList params, TensorList grads, TensorList prevs,
                            TensorList step_sizes, TensorList state_steps, double etaminus,
                            double etaplus, double step_size_min, double step_size_max,
                            bool maximize) {
  const optim::Rprop rule{maximize, etaminus, etaplus, step_size_min, step_size_max};
  optim::step_lists(rule, {.params = params,
                           .grads = grads,
                           .states = {{{"prevs", prevs}, {"step_sizes", step_sizes}}},
                           .scalars = {{{"state_steps", state_steps}}}});
}

void compute::_fused_asgd_(TensorList params, TensorList grads, TensorList axs, TensorList etas,
                           TensorList mus, TensorList state_steps, double lr, double lambd,
                           double alpha, double t0, double weight_decay, bool maximize) {
  const optim::Asgd rule{maximize, weight_decay, lambd, alpha, t0, lr};
  optim::step_lists(rule,
                    {.params = params,
                     .grads = grads,
                     .states = {{{"axs", axs}}},
                     .scalars = {{{"state_steps", state_steps}, {"etas", etas}, {"mus", mus}}}});
}

}  // namespace fb::ops
