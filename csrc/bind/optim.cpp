// Steps of optimisers: parameters, gradients and state are collected from the groups and the state
// that the Python object keeps, and go to the operator of the rule together.
//
// Note [Steps that are composed]: the kernels take dense tensors of the same type and strides, and
// options that are numbers. All else (an option that is a tensor, a state in another type,
// `differentiable=True`) goes to Optimizer._step_composed, which computes the same with ordinary
// operators and raises the errors.
#include "bind/optim.h"

#include <algorithm>

#include "bind/items.h"
#include "bind/optim_collection.h"
#include "bind/optim_step.h"
#include "core/observe.h"
#include "gen/ops/create.h"

namespace fb::bind {
namespace optim {

PyObject* Options::get(PyObject* name) const {
  PyObject* found = PyDict_GetItemWithError(group_, name);
  if (found) return found;
  if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, name);
  throw PythonError{};
}

double Options::real(PyObject* value) {
  if (is_tensor(value)) {
    refuse();
    return 0;
  }
  const double result = PyFloat_AsDouble(value);
  if (result == -1 && PyErr_Occurred()) throw PythonError{};
  return result;
}

namespace {

// --- stepping

// Takes a step by the operator, with tensors on one device. Parameters with a new state are a
// second call if the operator needs that.
template <class Rule>
void call_operator(const Rule& rule, std::span<Row<Rule>> rows) {
  const auto is_new = [](const Row<Rule>& row) { return row.is_new; };
  auto rest = rows.end();
  if (Rule::kScalars == 0) rest = std::stable_partition(rows.begin(), rows.end(), is_new);
  for (const std::span<const Row<Rule>> part :
       {std::span(rows.begin(), rest), std::span(rest, rows.end())})
    if (!part.empty()) Binding<Rule>::call(rule, Lists<Rule>(part));
}

// Observers see the operator; it also copies scalars from other devices.
template <class Rule>
[[gnu::cold]] void step_by_operator(const Rule& rule, std::span<Row<Rule>> rows) {
  while (!rows.empty()) {
    const Device device = rows.front().param->device;
    const auto is_here = [&](const Row<Rule>& row) { return row.param->device == device; };
    const auto rest = std::stable_partition(rows.begin(), rows.end(), is_here);
    call_operator(rule, std::span(rows.begin(), rest));
    rows = std::span(rest, rows.end());
  }
}

// Whether one of some parameters is, which the composed step refuses if steps shall be capturable.
bool is_on_host(PyObject* params) {
  if (!PyList_Check(params)) return true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(params); ++i) {
    PyObject* param = PyList_GET_ITEM(params, i);
    if (!is_tensor(param) || tensor_of(param).device() == kHost) return true;
  }
  return false;
}

template <class Rule>
void step_group(PyObject* optimizer, PyObject* state, PyObject* group) {
  FB_CHECK_TYPE(PyDict_Check(group), "a parameter group is a dictionary, got ",
                Py_TYPE(group)->tp_name);
  Options options(group);
  const Rule rule = Binding<Rule>::of(options);
  if (options.flag(names->differentiable)) options.refuse();
  const Ref params(new_ref(options.get(names->params)));
  PyObject* capturable = PyDict_GetItemWithError(group, names->capturable);
  if (PyErr_Occurred()) throw PythonError{};
  if (capturable && capturable != Py_False && is_on_host(params.get())) options.refuse();
  if (!options.suit_kernels() || !PyList_Check(params.get())) {
    checked(
        PyObject_CallMethodObjArgs(optimizer, names->step_composed, group, params.get(), nullptr));
    return;
  }
  Collection<Rule> collection(optimizer, state, group);
  collection.collect(rule, params.get());
  const std::span<Row<Rule>> rows = collection.rows();
  if (collection.is_elsewhere() || observe::any()) [[unlikely]]
    step_by_operator(rule, rows);
  else if (!rows.empty())  // see Note [Steps without lists]
    ops::optim::step(rule, std::span<const Row<Rule>>(rows));
  if (collection.odd())
    checked(PyObject_CallMethodObjArgs(optimizer, names->step_composed, group, collection.odd(),
                                       nullptr));
}

PyObject* call_closure(PyObject* closure) {
  if (!closure || closure == Py_None) return none();
  const autograd::GradMode recording(true);
  return checked(PyObject_CallNoArgs(closure)).release();
}

// Whether a GradScaler has found gradients that are not finite, which it reports in attributes of
// the optimiser. If not, unscales the gradients here.
bool is_held_back(PyObject* optimizer) {
  PyObject** own = _PyObject_GetDictPtr(optimizer);
  if (!own || !*own || PyDict_Contains(*own, names->found_inf) != 1) return false;
  const Ref held = checked(PyObject_CallMethodNoArgs(optimizer, names->scale_back));
  return held.get() == Py_True;
}

// step(optimizer, closure=None).
template <class Rule>
PyObject* step(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded(nullptr, [&] {
    const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    FB_CHECK_TYPE(nargs >= 1, "step() is a method: call it on an optimizer");
    FB_CHECK_TYPE(nargs + named <= 2, "step() takes at most a closure, but ", nargs + named - 1,
                  " arguments were given");
    if (named)
      FB_CHECK_TYPE(PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "closure") == 0,
                    "step() got an unexpected keyword argument '",
                    PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, 0)), "'");
    PyObject* optimizer = args[0];
    Ref loss(call_closure(nargs + named == 2 ? args[1] : nullptr));
    if (is_held_back(optimizer)) return loss.release();
    const Ref groups = checked(PyObject_GetAttr(optimizer, names->param_groups));
    const Ref state = checked(PyObject_GetAttr(optimizer, names->state));
    FB_CHECK_TYPE(PyList_Check(groups.get()), "param_groups is not a list");
    FB_CHECK_TYPE(PyDict_Check(state.get()), "state is not a dictionary");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(groups.get()); ++i) {
      const Ref group(new_ref(PyList_GET_ITEM(groups.get(), i)));
      step_group<Rule>(optimizer, state.get(), group.get());
    }
    return loss.release();
  });
}

// --- clearing gradients

void forget_grad(const Tensor& param, bool set_to_none) {
  autograd::Meta* meta = param->autograd;
  if (!meta || !meta->grad) return;
  if (set_to_none) {
    meta->grad = Tensor();
    return;
  }
  const Tensor grad = meta->grad;
  const autograd::GradMode off(false);
  if (autograd::grad_fn(grad))
    autograd::detach_(grad);
  else
    autograd::set_requires_grad(grad, false);
  if (!grad->is_promised()) ops::zero_(grad);
}

void forget_grads(PyObject* params, bool set_to_none) {
  const Ref list = checked(PySequence_Fast(params, "expected a list of parameters"));
  for_each_item(list.get(), [&](PyObject* param) {
    FB_CHECK_TYPE(is_tensor(param), "expected a Tensor, got ", Py_TYPE(param)->tp_name);
    const Tensor kept = tensor_of(param);
    forget_grad(kept, set_to_none);
  });
}

bool is_set(PyObject* const* args, Py_ssize_t nargs) {
  FB_CHECK_TYPE(nargs == 2, "expected 2 arguments, got ", nargs);
  const int value = PyObject_IsTrue(args[1]);
  if (value < 0) throw PythonError{};
  return value;
}

// forget_grads(params, set_to_none).
PyObject* forget_grads_of(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded("zero_grad", [&] {
    const bool set_to_none = is_set(args, nargs);
    forget_grads(args[0], set_to_none);
    return none();
  });
}

// forget_group_grads(param_groups, set_to_none).
PyObject* forget_group_grads(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded("zero_grad", [&] {
    const bool set_to_none = is_set(args, nargs);
    const Ref groups = checked(PySequence_Fast(args[0], "expected a list of parameter groups"));
    for_each_item(groups.get(), [&](PyObject* group) {
      FB_CHECK_TYPE(PyDict_Check(group), "a parameter group is a dictionary, got ",
                    Py_TYPE(group)->tp_name);
      forget_grads(Options(group).get(names->params), set_to_none);
    });
    return none();
  });
}

PyCFunction as_fastcall(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr int kStep = METH_FASTCALL | METH_KEYWORDS;
PyMethodDef functions[] = {
    {"sgd", as_cfunction(step<Sgd>), kStep, nullptr},
    {"adam", as_cfunction(step<Adam>), kStep, nullptr},
    {"adamax", as_cfunction(step<Adamax>), kStep, nullptr},
    {"nadam", as_cfunction(step<NAdam>), kStep, nullptr},
    {"radam", as_cfunction(step<RAdam>), kStep, nullptr},
    {"rmsprop", as_cfunction(step<Rmsprop>), kStep, nullptr},
    {"adagrad", as_cfunction(step<Adagrad>), kStep, nullptr},
    {"adadelta", as_cfunction(step<Adadelta>), kStep, nullptr},
    {"rprop", as_cfunction(step<Rprop>), kStep, nullptr},
    {"asgd", as_cfunction(step<Asgd>), kStep, nullptr},
    {"forget_grads", as_fastcall(forget_grads_of), METH_FASTCALL, nullptr},
    {"forget_group_grads", as_fastcall(forget_group_grads), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace
}  // namespace optim

void add_optim(PyObject* module) {
  optim::names = new optim::Names;
  PyObject* made = PyImport_AddModule("flambeau._C._optim");
  if (!made || PyModule_AddFunctions(made, optim::functions) < 0 ||
      PyModule_AddObjectRef(module, "_optim", made) < 0)
    throw PythonError{};
  optim::add_step_type(made);
}

}  // namespace fb::bind
