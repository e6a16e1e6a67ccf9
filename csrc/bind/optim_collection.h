// What a step works on: parameters that have gradients, with the state that the optimiser keeps.
//
// Note [Looking things up]: a lookup in a dictionary may run code of the user (a key that compares
// itself, a state that is begun), which may change anything. So the objects are gathered and held
// first; only when no more code can run their tensors are looked at.
#pragma once

#include <unordered_set>
#include <vector>

#include "autograd/history.h"
#include "bind/optim_rules.h"
#include "ops/layout.h"

namespace fb::bind::optim {

// The Python objects of one parameter.
template <class Rule>
struct Gathered {
  Ref param;
  std::array<Ref, Rule::kStates.size()> states;  // empty where the options ask for none
  std::array<Ref, Rule::kScalars.size()> scalars;
  bool is_new = false;
};

// The tensors of one parameter, held by the objects and by the parameter.
template <class Rule>
struct Entry {
  TensorImpl* param;
  TensorImpl* grad;
  std::array<TensorImpl*, Rule::kStates.size()> states;  // null where there is none
  std::array<TensorImpl*, Rule::kScalars.size()> scalars;
  bool is_new;
};

inline bool lies_like(const TensorImpl& t, const TensorImpl& param) {
  return t.dtype == param.dtype && t.sizes() == param.sizes() &&
         ((t.contiguous && param.contiguous) || t.strides() == param.strides()) &&
         !(t.flags & (kBatched | kDual | kSparse)) && !t.is_promised();
}

inline bool is_kernels_own(const TensorImpl& param) {
  return (is_floating(param.dtype) || is_complex(param.dtype)) &&
         param.device.type == DeviceType::kCpu && !(param.flags & (kSparse | kInference)) &&
         !param.is_promised() && (param.contiguous || is_dense(param.sizes(), param.strides()));
}

inline bool is_number(const TensorImpl& t) {
  return t.numel == 1 && (t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64) &&
         !(t.flags & ~kCut);
}

// The gradient in the order of its dimensions; null where there is none.
inline TensorImpl* gradient_of(const TensorImpl& param) {
  const autograd::Meta* meta = param.autograd;
  if (!meta || !meta->grad) return nullptr;
  ops::settle(meta->grad);
  return meta->grad.get();
}

// Empty where the dictionary has no tensor by the name.
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
    // A state that was begun is looked up with all others.
    while (!gather(rule, params)) {
    }
    entries_.reserve(gathered_.size());
    for (const Gathered<Rule>& each : gathered_) examine(each);
  }
  const std::vector<Entry<Rule>>& entries() const { return entries_; }
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
            keep_odd(param);  // the optimiser's class makes another state than the kernel's
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
    if (!is_kernels_own(param) || !lies_like(*grad, param)) return Found::kOdd;
    return find_state(rule, found);
  }

  Found find_state(const Rule& rule, Gathered<Rule>& found) const {
    if (Rule::kScalars.empty() && !rule.uses(0)) return Found::kComplete;  // there is none
    PyObject* own = PyDict_GetItemWithError(state_, found.param.get());
    if (!own && PyErr_Occurred()) throw PythonError{};
    if (own && !PyDict_Check(own)) return Found::kOdd;
    const Ref kept(own ? new_ref(own) : nullptr);
    // SGD begins its only state wherever that is missing; others begin all of theirs at once.
    const Found missing = Rule::kScalars.empty() ? Found::kNew : Found::kOdd;
    if (!own || PyDict_GET_SIZE(own) == 0) return Found::kNew;
    for (size_t k = 0; k < found.states.size(); ++k) {
      if (!rule.uses(k)) continue;
      found.states[k] = tensor_in(own, names->*Rule::kStates[k]);
      if (!found.states[k]) return missing;
    }
    for (size_t k = 0; k < found.scalars.size(); ++k) {
      found.scalars[k] = tensor_in(own, names->*Rule::kScalars[k]);
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
    Entry<Rule> entry;
    if (look_at(gathered, entry))
      entries_.push_back(entry);
    else
      keep_odd(gathered.param.get());
  }

  static bool look_at(const Gathered<Rule>& gathered, Entry<Rule>& entry) {
    const auto tensor = [](const Ref& object) { return tensor_of(object.get()).get(); };
    entry.param = tensor(gathered.param);
    entry.grad = gradient_of(*entry.param);
    entry.is_new = gathered.is_new;
    if (!entry.grad || !is_kernels_own(*entry.param) || !lies_like(*entry.grad, *entry.param))
      return false;
    for (size_t k = 0; k < entry.states.size(); ++k) {
      entry.states[k] = gathered.states[k] ? tensor(gathered.states[k]) : nullptr;
      if (entry.states[k] && !lies_like(*entry.states[k], *entry.param)) return false;
    }
    for (size_t k = 0; k < entry.scalars.size(); ++k) {
      entry.scalars[k] = tensor(gathered.scalars[k]);
      if (!is_number(*entry.scalars[k])) return false;
    }
    return true;
  }

  PyObject* optimizer_;
  PyObject* state_;
  PyObject* group_;
  std::vector<Gathered<Rule>> gathered_;
  std::vector<Entry<Rule>> entries_;
  std::unordered_set<PyObject*> begun_;  // whose state is new
  Ref odd_;
};

}  // namespace fb::bind::optim
