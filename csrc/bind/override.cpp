// Handing calls over to __torch_function__.
#include "bind/override.h"

#include <string>
#include <utility>
#include <vector>

#include "bind/ending.h"

namespace fb::bind {

PyTypeObject* parameter_type = nullptr;

namespace {

PyObject* disabled_override = nullptr;

constinit thread_local OverrideLevel current_level = OverrideLevel::kAll;

struct Modes {
  static constexpr char kName[] = "flambeau.modes";
  std::vector<Ref> stack;  // the innermost is last
  ~Modes() { mode_count -= static_cast<int>(stack.size()); }
};

PyObject* attribute_name() {
  static PyObject* name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

// Arguments that override, one of each class: in the order given, but subclasses first. They are
// owned: the first handler may remove the others from the list that holds them.
class Candidates {
 public:
  void consider(PyObject* object) {
    if (overrides(object)) return add(object);
    if (!PyTuple_Check(object) && !PyList_Check(object)) return;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      if (PyObject* item = PySequence_Fast_GET_ITEM(object, i); overrides(item)) add(item);
  }

  const std::vector<Ref>& objects() const { return objects_; }

  Ref types() const {
    Ref types = checked(PyTuple_New(static_cast<Py_ssize_t>(objects_.size())));
    for (size_t i = 0; i < objects_.size(); ++i)
      PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                       new_ref(reinterpret_cast<PyObject*>(Py_TYPE(objects_[i].get()))));
    return types;
  }

 private:
  void add(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    for (const Ref& known : objects_)
      if (Py_TYPE(known.get()) == type) return;
    auto index = objects_.begin();
    while (index != objects_.end() && !PyType_IsSubtype(type, Py_TYPE(index->get()))) ++index;
    objects_.insert(index, Ref(new_ref(object)));
  }

  std::vector<Ref> objects_;
};

// The innermost mode, off the stack while it answers: its own calls go to the next one.
class SetAside {
 public:
  SetAside() : mode_(pop_mode()) {}
  ~SetAside() { push_mode(mode_.get()); }
  SetAside(const SetAside&) = delete;
  PyObject* mode() const { return mode_.get(); }

 private:
  Ref mode_;
};

// What `object` answers.
Ref ask(PyObject* object, PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs) {
  const Ref method = checked(PyObject_GetAttr(object, attribute_name()));
  return checked(
      PyObject_CallFunctionObjArgs(method.get(), function, types, args, kwargs, nullptr));
}

std::string text_of(Ref text) {
  if (!text) throw PythonError{};
  const char* chars = PyUnicode_AsUTF8(text.get());
  if (!chars) throw PythonError{};
  return chars;
}

[[noreturn]] void refuse(PyObject* function, const Candidates& candidates) {
  std::string who;
  for (const Ref& object : candidates.objects())
    who += (who.empty() ? "" : ", ") + std::string(Py_TYPE(object.get())->tp_name);
  if (is_mode_active()) {
    const Ref mode(new_ref(mode_at(mode_depth() - 1)));
    who += who.empty() ? "" : ", ";
    who += "the mode " + text_of(Ref(PyObject_Repr(mode.get())));
  }
  const std::string name = text_of(Ref(PyObject_Repr(function)));
  fail(ErrorKind::kType, "Multiple dispatch failed for ", name,
       "; all __torch_function__ handlers returned NotImplemented: ", who);
}

PyObject* hand_over(PyObject* function, const Candidates& candidates, PyObject* args,
                    PyObject* kwargs) {
  const Ref types = candidates.types();
  const Ref named = kwargs ? Ref(new_ref(kwargs)) : checked(PyDict_New());
  if (is_mode_active()) {
    const SetAside innermost;
    Ref result = ask(innermost.mode(), function, types.get(), args, named.get());
    if (result.get() != Py_NotImplemented) return result.release();
  }
  for (const Ref& object : candidates.objects()) {
    Ref result = ask(object.get(), function, types.get(), args, named.get());
    if (result.get() != Py_NotImplemented) return result.release();
  }
  refuse(function, candidates);
}

// A call as Python sees it.
struct Packed {
  Ref function;
  Ref args;
  Ref kwargs;
};

Packed packed(PyObject* owner, const char* name, FB_PY_ARGUMENTS) {
  const Py_ssize_t hidden = self ? 1 : 0;
  Packed call{checked(PyObject_GetAttrString(owner, name)), checked(PyTuple_New(hidden + nargs)),
              checked(PyDict_New())};
  if (self) PyTuple_SET_ITEM(call.args.get(), 0, new_ref(self));
  for (Py_ssize_t i = 0; i < nargs; ++i)
    PyTuple_SET_ITEM(call.args.get(), hidden + i, new_ref(args[i]));
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(call.kwargs.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0)
      throw PythonError{};
  return call;
}

}  // namespace

bool thread_has_mode() { return mode_depth() != 0 && current_level != OverrideLevel::kNone; }

bool class_overrides(PyTypeObject* type) {
  if (current_level != OverrideLevel::kAll) return false;
  PyObject* found = _PyType_Lookup(type, attribute_name());
  return found && found != disabled_override;
}

bool is_overridden(PyObject* const* args, Py_ssize_t count) {
  if (is_mode_active()) return true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (overrides(args[i])) return true;
    if (!PyTuple_Check(args[i]) && !PyList_Check(args[i])) continue;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args[i]); ++k)
      if (overrides(PySequence_Fast_GET_ITEM(args[i], k))) return true;
  }
  return false;
}

PyObject* hand_over(PyObject* function, PyObject* const* relevant, Py_ssize_t count, PyObject* args,
                    PyObject* kwargs) {
  Candidates candidates;
  for (Py_ssize_t i = 0; i < count; ++i) candidates.consider(relevant[i]);
  return hand_over(function, candidates, args, kwargs);
}

PyObject* call_override(PyObject* owner, const char* name, FB_PY_ARGUMENTS) {
  const Packed call = packed(owner, name, self, args, nargs, kwnames);
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  Candidates candidates;
  if (self) candidates.consider(self);
  for (Py_ssize_t i = 0; i < nargs + named; ++i) candidates.consider(args[i]);
  return hand_over(call.function.get(), candidates, call.args.get(), call.kwargs.get());
}

PyObject* call_instead(const char* module, const char* function, PyObject* owner, const char* name,
                       FB_PY_ARGUMENTS) {
  const Packed call = packed(owner, name, self, args, nargs, kwnames);
  const Ref home = checked(PyImport_ImportModule(module));
  return PyObject_CallMethod(home.get(), function, "OOO", call.function.get(), call.args.get(),
                             call.kwargs.get());
}

PyObject* call_method_override(const char* name, std::initializer_list<PyObject*> args) {
  return call_override(reinterpret_cast<PyObject*>(tensor_type), name, nullptr, args.begin(),
                       static_cast<Py_ssize_t>(args.size()), nullptr);
}

OverrideLevel override_level() { return current_level; }
OverrideLevel set_override_level(OverrideLevel level) {
  return std::exchange(current_level, level);
}

void push_mode(PyObject* mode) {
  OfThread<Modes>::get().stack.push_back(Ref(new_ref(mode)));
  ++mode_count;
}

Ref pop_mode() {
  FB_CHECK(mode_depth() != 0, "no mode is active");
  std::vector<Ref>& stack = OfThread<Modes>::get().stack;
  Ref mode = std::move(stack.back());
  stack.pop_back();
  --mode_count;
  return mode;
}

PyObject* mode_at(Py_ssize_t index) {
  if (index < 0 || index >= mode_depth()) return nullptr;
  return OfThread<Modes>::get().stack[static_cast<size_t>(index)].get();
}
Py_ssize_t mode_depth() {
  const Modes* modes = OfThread<Modes>::find();
  return modes ? static_cast<Py_ssize_t>(modes->stack.size()) : 0;
}

void set_disabled_override(PyObject* function) { disabled_override = new_ref(function); }

}  // namespace fb::bind
