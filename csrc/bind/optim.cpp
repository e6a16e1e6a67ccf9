// Steps of optimisers: parameters, gradients and state are collected from the groups and the state
// that the Python object keeps, and go through the kernel together.
//
// Note [Steps that are composed]: the kernels take dense tensors of one type that lie alike in
// memory, and options that are numbers. All else (an option that is a tensor, a state in another
// type, `differentiable=True`) goes to Optimizer._step_composed, which computes the same with
// ordinary operators and says what is wrong where they refuse. So do steps that are recorded, as
// recorders see operators alone.
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

void* data_of(const TensorImpl& t) {
  return static_cast<char*>(t.storage->data) + t.offset * static_cast<int64_t>(size_of(t.dtype));
}

// --- stepping

template <size_t N>
Scalars read_scalars(const std::array<TensorImpl*, N>& tensors) {
  Scalars scalars;
  for (size_t k = 0; k < N; ++k) {
    scalars.single[k] = tensors[k]->dtype == DType::kFloat32;
    scalars.values[k] = scalars.single[k] ? *static_cast<float*>(data_of(*tensors[k]))
                                          : *static_cast<double*>(data_of(*tensors[k]));
  }
  return scalars;
}

void note_write(TensorImpl& t) {
  ++t.storage->version;
  if (t.storage->watched) [[unlikely]]
    autograd::note_change(*t.storage.get(), "step");
}

template <size_t N>
void write_scalars(const std::array<TensorImpl*, N>& tensors, const Scalars& scalars) {
  for (size_t k = 0; k < N; ++k) {
    if (scalars.single[k])
      *static_cast<float*>(data_of(*tensors[k])) = static_cast<float>(scalars.values[k]);
    else
      *static_cast<double*>(data_of(*tensors[k])) = scalars.values[k];
    note_write(*tensors[k]);
  }
}

// The numbers of each entry, whose scalars move on. Most entries have made the same number of
// steps: they share them.
template <class Rule>
class NumbersOfStep {
 public:
  NumbersOfStep(const Rule& rule, size_t most) : rule_(rule) { numbers_.reserve(most); }

  const void* of(const Entry<Rule>& entry) {
    const Scalars before = read_scalars(entry.scalars);
    if (numbers_.empty() || !(before == before_) || entry.is_new != is_new_) {
      before_ = after_ = before;
      is_new_ = entry.is_new;
      numbers_.push_back(rule_.at(after_, is_new_));
    }
    write_scalars(entry.scalars, after_);
    return &numbers_.back();
  }

 private:
  const Rule& rule_;
  std::vector<typename Rule::Numbers> numbers_;
  Scalars before_, after_;
  bool is_new_ = false;
};

template <class Rule>
kernel::OptimTensor as_stretch(const Entry<Rule>& entry, const void* numbers) {
  const DType dtype = entry.param->dtype;
  kernel::OptimTensor t = {};
  t.param = data_of(*entry.param);
  t.grad = data_of(*entry.grad);
  for (size_t k = 0; k < entry.states.size(); ++k)
    if (entry.states[k]) t.state[k] = data_of(*entry.states[k]);
  t.n = entry.param->numel * (is_complex(dtype) ? 2 : 1);
  t.dtype = real_type(dtype);
  t.numbers = numbers;
  return t;
}

// Whether a parameter is listed twice: its steps must then follow each other.
bool has_repeats(Tensors tensors) {
  std::vector<const void*> params;
  for (const kernel::OptimTensor& t : tensors) params.push_back(t.param);
  std::sort(params.begin(), params.end());
  return std::adjacent_find(params.begin(), params.end()) != params.end();
}

// Runs a kernel without the interpreter's lock where that is worthwhile; others may then drop what
// it works on, or give a tensor other memory, so the memory is held.
template <class Rule>
void run_held(const kernel::Table& kernels, const std::vector<Entry<Rule>>& entries,
              Tensors tensors) {
  std::vector<Storage> held;
  for (const Entry<Rule>& entry : entries) {
    held.push_back(entry.param->storage);
    held.push_back(entry.grad->storage);
    for (const TensorImpl* state : entry.states)
      if (state) held.push_back(state->storage);
  }
  if (!has_repeats(tensors)) return Rule::run(kernels, tensors);
  for (size_t i = 0; i < tensors.size(); ++i) Rule::run(kernels, tensors.subspan(i, 1));
}

template <class Rule>
void step_entries(const Rule& rule, const std::vector<Entry<Rule>>& entries) {
  NumbersOfStep<Rule> numbers(rule, entries.size());
  std::vector<kernel::OptimTensor> tensors;
  tensors.reserve(entries.size());
  int64_t total = 0;
  for (const Entry<Rule>& entry : entries) {
    tensors.push_back(as_stretch(entry, numbers.of(entry)));
    total += tensors.back().n;
  }
  // They are all on one device: see is_kernels_own.
  const kernel::Table& kernels = kernel::of(entries.front().param->device);
  if (total > kernel::kSmallStep)
    run_held(kernels, entries, tensors);
  else
    Rule::run(kernels, tensors);
  for (const Entry<Rule>& entry : entries) {
    note_write(*entry.param);
    for (TensorImpl* state : entry.states)
      if (state) note_write(*state);
  }
}

template <class Rule>
void step_group(PyObject* optimizer, PyObject* state, PyObject* group) {
  FB_CHECK_TYPE(PyDict_Check(group), "a parameter group is a dictionary, got ",
                Py_TYPE(group)->tp_name);
  Options options(group);
  const Rule rule(options);
  if (options.flag(names->differentiable) || observe::watches(observe::kRecord)) options.refuse();
  PyObject* capturable = PyDict_GetItemWithError(group, names->capturable);
  if (PyErr_Occurred()) throw PythonError{};
  if (capturable && capturable != Py_False) options.refuse();
  const Ref params(new_ref(options.get(names->params)));
  if (!options.is_plain() || !PyList_Check(params.get())) {
    checked(
        PyObject_CallMethodObjArgs(optimizer, names->step_composed, group, params.get(), nullptr));
    return;
  }
  Collection<Rule> collection(optimizer, state, group);
  collection.collect(rule, params.get());
  if (!collection.entries().empty()) step_entries(rule, collection.entries());
  if (collection.odd())
    checked(PyObject_CallMethodObjArgs(optimizer, names->step_composed, group, collection.odd(),
                                       nullptr));
}

PyObject* call_closure(PyObject* closure) {
  if (!closure || closure == Py_None) return none();
  const autograd::GradMode recording(true);
  return checked(PyObject_CallNoArgs(closure)).release();
}

// Whether a GradScaler has found gradients that are not finite, which it reports by attributes of
// the optimiser. If it has found none, the gradients are unscaled here.
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
    FB_CHECK_TYPE(nargs + named <= 2, "step() takes a closure at most, but ", nargs + named - 1,
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

// --- forgetting gradients

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
