// The operands of a step: parameters that have gradients, with the state that the optimiser keeps.
//
// Note [Looking things up]: a lookup in a dictionary may run user code (the comparison of a key,
// the creation of a state), which may change anything. So the objects are collected and held first;
// their tensors are read only when no more user code can run.
#pragma once

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "autograd/history.h"
#include "bind/optim_rules.h"
#include "ops/layout.h"

namespace fb::bind::optim {

using ops::optim::is_parameter;
using ops::optim::is_scalar;
using ops::optim::lies_like;

// The Python objects of one parameter.
template <class Rule>
struct Gathered {
  Ref param;
  std::array<Ref, Rule::kStates> states;  // empty where the options ask for none
  std::array<Ref, Rule::kScalars> scalars;
  bool is_new = false;
};

// The gradient in the order of its dimensions; null where there is none.
inline TensorImpl* gradient_of(const TensorImpl& param) {
  const autograd::Meta* meta = param.autograd;
  if (!meta || !meta->grad) return nullptr;
  ops::settle(meta->grad);
  return meta->grad.get();
}

// Empty if the dictionary has no tensor of that name.
inline Ref tensor_in(PyObject* dictionary, PyObject* name) {
  PyObject* found = PyDict_GetItemWithError(dictionary, name);
  if (!found && PyErr_Occurred()) throw PythonError{};
  return Ref(found && is_tensor(found) ? new_ref(found) : nullptr);
}

// The parameters of one group.
template <class Rule>
class Collection {
 public:
  Collection(PyObject* optimizer, PyObject* state, PyObject* group)
      : optimizer_(optimizer), state_(state), group_(group) {}

  void collect(const Rule& rule, PyObject* params) {
    // A new state is looked up like all others.
    while (!gather(rule, params)) {
    }
    rows_.reserve(gathered_.size());
    for (const Gathered<Rule>& each : gathered_) examine(each);
  }
  // Held by the objects and by the parameters, which the collection holds.
  std::vector<Row<Rule>>& rows() { return rows_; }
  // Whether some of their tensors are not in the host's memory.
  bool is_elsewhere() const { return is_elsewhere_; }
  PyObject* odd() const { return odd_.get(); }  // a list, or null

 private:
  // What became of a parameter.
  enum class Found { kNothing, kComplete, kNew, kOdd };

  bool gather(const Rule& rule, PyObject* params) {
    bool is_complete = true;
    gathered_.clear();
    gathered_.reserve(PyList_GET_SIZE(params));
    odd_ = Ref();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(params); ++i) {
      Gathered<Rule> found;
      found.param = Ref(new_ref(PyList_GET_ITEM(params, i)));
      PyObject* const param = found.param.get();
      switch (find(rule, found)) {
        case Found::kNothing: break;
        case Found::kComplete:
          found.is_new = !begun_.empty() && begun_.contains(param);
          gathered_.push_back(std::move(found));
          break;
        case Found::kNew:
          if (begun_.insert(param).second) {
            begin_state(param);
            is_complete = false;
          } else {
            keep_odd(param);  // the optimiser's class makes a state that the kernel does not know
          }
          break;
        case Found::kOdd: keep_odd(param); break;
      }
    }
    return is_complete;
  }

  Found find(const Rule& rule, Gathered<Rule>& found) const {
    if (!is_tensor(found.param.get())) return Found::kOdd;
    const TensorImpl& param = *tensor_of(found.param.get()).get();
    const TensorImpl* grad = gradient_of(param);
    if (!grad) return Found::kNothing;
    const Found state = find_state(rule, found);
    // Whether a kernel can take it is decided at the end; a state is created only if it can.
    const bool begins = state == Found::kNew;
    return begins && !(is_parameter(param) && lies_like(*grad, param)) ? Found::kOdd : state;
  }

  Found find_state(const Rule& rule, Gathered<Rule>& found) const {
    if (Rule::kScalars == 0 && !rule.uses(0)) return Found::kComplete;  // there is none
    PyObject* own = PyDict_GetItemWithError(state_, found.param.get());
    if (!own && PyErr_Occurred()) throw PythonError{};
    if (own && !PyDict_Check(own)) return Found::kOdd;
    const Ref kept(own ? new_ref(own) : nullptr);
    // SGD creates its only state if it is missing; other optimisers create all of theirs at once.
    const Found missing = Rule::kScalars == 0 ? Found::kNew : Found::kOdd;
    if (!own || PyDict_GET_SIZE(own) == 0) return Found::kNew;
    for (size_t k = 0; k < found.states.size(); ++k) {
      if (!rule.uses(k)) continue;
      found.states[k] = tensor_in(own, names->*Binding<Rule>::kStates[k]);
      if (!found.states[k]) return missing;
    }
    for (size_t k = 0; k < found.scalars.size(); ++k) {
      found.scalars[k] = tensor_in(own, names->*Binding<Rule>::kScalars[k]);
      if (!found.scalars[k]) return missing;
    }
    return Found::kComplete;
  }

  void begin_state(PyObject* param) {
    checked(PyObject_CallMethodObjArgs(optimizer_, names->init_state, param, group_, nullptr));
  }

  void keep_odd(PyObject* param) {
    if (!odd_) odd_ = checked(PyList_New(0));
    if (PyList_Append(odd_.get(), param) < 0) throw PythonError{};
  }

  void examine(const Gathered<Rule>& gathered) {
    Row<Rule> row;
    if (look_at(gathered, row))
      rows_.push_back(row);
    else
      keep_odd(gathered.param.get());
  }

  bool look_at(const Gathered<Rule>& gathered, Row<Rule>& row) {
    const auto tensor = [](const Ref& object) { return tensor_of(object.get()).get(); };
    row.param = tensor(gathered.param);
    row.grad = gradient_of(*row.param);
    row.is_new = gathered.is_new;
    if (!row.grad || !is_parameter(*row.param) || !lies_like(*row.grad, *row.param)) return false;
    // Some bit is set for a device other than the host.
    unsigned devices = device_bits(*row.param) | device_bits(*row.grad);
    for (size_t k = 0; k < row.states.size(); ++k) {
      row.states[k] = gathered.states[k] ? tensor(gathered.states[k]) : nullptr;
      if (!row.states[k]) continue;
      if (!lies_like(*row.states[k], *row.param)) return false;
      devices |= device_bits(*row.states[k]);
    }
    for (size_t k = 0; k < row.scalars.size(); ++k) {
      row.scalars[k] = tensor(gathered.scalars[k]);
      if (!is_scalar(*row.scalars[k])) return false;
      devices |= device_bits(*row.scalars[k]);
    }
    if (devices == 0) [[likely]]
      return true;
    is_elsewhere_ = true;
    return is_on_one_device(row);
  }

  static unsigned device_bits(const TensorImpl& t) { return static_cast<unsigned>(t.device.type); }

  // Scalars may be in the host's memory nevertheless.
  [[gnu::cold]] static bool is_on_one_device(const Row<Rule>& row) {
    const Device device = row.param->device;
    const auto is_there = [&](const TensorImpl* t) { return !t || t->device == device; };
    const auto is_near = [&](const TensorImpl* t) {
      return !t->is_promised() && (t->device == kHost || t->device == device);
    };
    return is_there(row.grad) && std::all_of(row.states.begin(), row.states.end(), is_there) &&
           std::all_of(row.scalars.begin(), row.scalars.end(), is_near);
  }

  PyObject* optimizer_;
  PyObject* state_;
  PyObject* group_;
  std::vector<Gathered<Rule>> gathered_;
  std::vector<Row<Rule>> rows_;
  bool is_elsewhere_ = false;
  std::unordered_set<PyObject*> begun_;  // whose state is new
  Ref odd_;
};

}  // namespace fb::bind::optim
