// From a Python call to an operator.
#include "bind/call.h"

#include <structseq.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "autograd/record.h"
#include "bind/boxed.h"
#include "bind/tape.h"
#include "core/no_device.h"
#include "ops/observe.h"
#include "shadow/access.h"
#include "tape/store.h"

namespace fb::bind {
namespace {

constexpr int kMaxSlots = 24;

// NumPy's names of the same arguments, which PyTorch takes too.
const char* canonical_name(const char* name, const ArgSpec* args, int count) {
  struct Alias {
    const char* alias;
    const char* name;
  };
  static constexpr Alias kAliases[] = {{"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"},
                                       {"a", "input"},  {"x1", "input"},         {"x2", "other"},
                                       {"axes", "dims"}};
  for (const Alias& alias : kAliases) {
    if (std::string_view(name) != alias.alias) continue;
    for (int i = 0; i < count; ++i)
      if (std::string_view(args[i].name) == alias.name) return alias.name;
  }
  return name;
}

// A call's arguments, with the tensor in front when it is a method's.
struct Call {
  PyObject* self;
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;

  Py_ssize_t positional() const { return nargs + (self != nullptr); }
  PyObject* at(Py_ssize_t i) const { return self ? (i == 0 ? self : args[i - 1]) : args[i]; }
  Py_ssize_t keywords() const { return kwnames ? PyTuple_GET_SIZE(kwnames) : 0; }
};

// The result of a match: borrowed arguments, and a tuple made of `zeros(2, 3)`'s integers.
struct Match {
  PyObject* slots[kMaxSlots];
  Ref gathered;
};

// Why an overload did not match; filled in only if it will be read.
struct Reason {
  std::string text;
};

bool no(Reason* reason, std::string text) {
  if (reason) reason->text = std::move(text);
  return false;
}

std::string wrong_type(const OverloadSet& set, const ArgSpec& spec, Py_ssize_t position,
                       PyObject* o) {
  std::string text = std::string(set.name) + "(): argument '" + spec.name + "'";
  if (position > 0) text += " (position " + std::to_string(position) + ")";
  text += " must be " + std::string(describe(spec.type)) + ", not " + type_name(o);
  const bool may_be_none = spec.type == ArgType::kTensorsOrNone;
  const bool takes_tensors = spec.type == ArgType::kTensorList || may_be_none;
  if ((spec.type == ArgType::kInts || spec.type == ArgType::kSize || takes_tensors) &&
      (PyTuple_Check(o) || PyList_Check(o))) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(o, i);
      const bool good = takes_tensors ? is_tensor(item) || (may_be_none && item == Py_None)
                                      : is_integer_like(item);
      if (!good) return text + " (element " + std::to_string(i) + " is " + type_name(item) + ")";
    }
  }
  return text;
}

// Gathers `view(2, 3)`'s loose integers into a tuple.
bool gather_size(const Call& call, Py_ssize_t from, Match& match, int slot) {
  const Py_ssize_t n = call.positional() - from;
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!is_integer_like(call.at(from + i))) return false;
  match.gathered = checked(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(match.gathered.get(), i, new_ref(call.at(from + i)));
  match.slots[slot] = match.gathered.get();
  return true;
}

std::string missing_arguments(const OverloadSet& set, const Overload& overload,
                              const Match& found) {
  std::string text = std::string(set.name) + "() missing required arguments: ";
  const char* before = "\"";
  for (int i = 0; i < overload.count; ++i) {
    const ArgSpec& spec = overload.args[i];
    if (!spec.required || found.slots[spec.slot]) continue;
    text += before + std::string(spec.name) + "\"";
    before = ", \"";
  }
  return text;
}

bool match(const OverloadSet& set, const Overload& overload, const Call& call, Match& out,
           Reason* reason) {
  std::fill_n(out.slots, overload.slots, nullptr);
  const Py_ssize_t given = call.positional();
  const int hidden = call.self ? 1 : 0;
  Py_ssize_t taken = 0;
  for (; taken < given && taken < overload.positional; ++taken) {
    const ArgSpec& spec = overload.args[taken];
    PyObject* o = call.at(taken);
    if (spec.type == ArgType::kSize && taken + 1 == overload.positional && is_integer_like(o)) {
      if (!gather_size(call, taken, out, spec.slot))
        return no(reason, std::string(set.name) + "(): argument '" + spec.name +
                              "' must be a tuple of ints");
      taken = given;
      break;
    }
    if (!fits(spec.type, o)) {
      if (!reason) return false;
      return no(reason, wrong_type(set, spec, taken + 1 - hidden, o));
    }
    out.slots[spec.slot] = o;
  }
  if (taken < given) {
    if (!reason) return false;
    return no(reason, std::string(set.name) + "() takes " +
                          std::to_string(overload.positional - hidden) + " positional argument" +
                          (overload.positional - hidden == 1 ? "" : "s") + " but " +
                          std::to_string(given - hidden) +
                          (given - hidden == 1 ? " was" : " were") + " given");
  }
  for (Py_ssize_t k = 0; k < call.keywords(); ++k) {
    PyObject* key = PyTuple_GET_ITEM(call.kwnames, k);
    const ArgSpec* spec = nullptr;
    for (int attempt = 0; attempt < 2 && !spec; ++attempt) {
      const char* name = attempt == 0
                             ? nullptr
                             : canonical_name(PyUnicode_AsUTF8(key), overload.args, overload.count);
      for (int i = hidden; i < overload.count && !spec; ++i) {
        const bool equal = name ? std::string_view(name) == overload.args[i].name
                                : PyUnicode_CompareWithASCIIString(key, overload.args[i].name) == 0;
        if (equal) spec = &overload.args[i];
      }
    }
    if (!spec) {
      if (!reason) return false;
      return no(reason, std::string(set.name) + "() got an unexpected keyword argument '" +
                            PyUnicode_AsUTF8(key) + "'");
    }
    if (out.slots[spec->slot]) {
      if (!reason) return false;
      return no(reason,
                std::string(set.name) + "() got multiple values for argument '" + spec->name + "'");
    }
    PyObject* o = call.args[call.nargs + k];
    if (!fits(spec->type, o)) {
      // None for an argument that has a default means the default.
      if (o == Py_None && !spec->required && spec->type != ArgType::kTensor) continue;
      if (!reason) return false;
      return no(reason, wrong_type(set, *spec, 0, o));
    }
    out.slots[spec->slot] = o;
  }
  for (int i = 0; i < overload.count; ++i) {
    const ArgSpec& spec = overload.args[i];
    if (!spec.required || out.slots[spec.slot]) continue;
    if (!reason) return false;
    return no(reason, missing_arguments(set, overload, out));
  }
  return true;
}

PyObject* raise_mismatch(const OverloadSet& set, const Call& call) {
  if (set.count == 1) {
    Match ignored;
    Reason reason;
    match(set, set.overloads[0], call, ignored, &reason);
    PyErr_SetString(PyExc_TypeError, reason.text.c_str());
    return nullptr;
  }
  std::string text =
      std::string(set.name) + "() received an invalid combination of arguments - got (";
  for (Py_ssize_t i = call.self ? 1 : 0; i < call.positional(); ++i)
    text += (i > (call.self ? 1 : 0) ? ", " : "") + type_name(call.at(i));
  for (Py_ssize_t k = 0; k < call.keywords(); ++k)
    text += std::string(text.back() == '(' ? "" : ", ") +
            PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.kwnames, k)) + "=" +
            type_name(call.args[call.nargs + k]);
  text += "), but expected one of:";
  for (int i = 0; i < set.count; ++i) {
    Match ignored;
    Reason reason;
    match(set, set.overloads[i], call, ignored, &reason);
    text += "\n * " + std::string(set.overloads[i].text) + "\n      " + reason.text;
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return nullptr;
}

bool is_overridden(const Call& call) {
  if (call.self && overrides(call.self)) return true;
  return bind::is_overridden(call.args, call.nargs + call.keywords());
}

// The argument of that name, as it was passed.
PyObject* slot_named(const Overload& overload, PyObject* const* slots, std::string_view name) {
  for (int i = 0; i < overload.count; ++i)
    if (name == overload.args[i].name) return slots[overload.args[i].slot];
  return nullptr;
}

// For an operator that does not tell observers itself.
[[gnu::noinline]] PyObject* invoke_observed(const Overload& overload, PyObject* const* slots) {
  const ops::Operator* op = overload.op;
  PyObject* out = slot_named(overload, slots, "out");
  const bool is_stored = out && out != Py_None;
  if (!op->function.body) note_read(tensor_of(slots[0]), op->name);
  if (is_stored) op = &tape::storing(*op);
  SmallVec<ops::Value, 8> values;
  if (observe::wants_values())
    for (int i = 0; i < op->count; ++i) {
      const ops::Parameter& parameter = op->parameters[i];
      values.push_back(boxed(parameter.type, slot_named(overload, slots, parameter.name)));
    }
  observe::Call call(observe::Call::Outside{}, *op, values.data(), values.size());
  PyObject* result = overload.invoke(slots);
  if (result && call.is_recorded()) call.end(results_of(*op, result));
  return result;
}

[[gnu::noinline]] PyObject* invoke_watched(const Overload& overload, PyObject* const* slots) {
  std::optional<GivenSizes> sizes;
  if (tape::Tape* tape = tape::tracing()) {
    sizes.emplace(*tape, overload, slots);
    if (PyObject* answer = overload.op ? traced_answer(*overload.op, slots) : nullptr)
      return answer;
  }
  return overload.op ? invoke_observed(overload, slots) : overload.invoke(slots);
}

PyObject* invoke(const Overload& overload, PyObject* const* slots) {
  if (observe::any()) [[unlikely]]
    return invoke_watched(overload, slots);
  return overload.invoke(slots);
}

PyObject* on_meta(const OverloadSet& set, PyObject* owner, const Call& call) {
  return guarded(nullptr, [&] {
    return call_instead("flambeau._meta.tensors", "call_on_meta", owner, set.name, call.self,
                        call.args, call.nargs, call.kwnames);
  });
}

// Moves the factors of an old signature behind the tensors.
PyObject* in_new_order(const OverloadSet& set, PyObject* owner, const Call& call) {
  Ref result = checked(call_instead("flambeau._core.old_orders", "in_new_order", owner, set.name,
                                    call.self, call.args, call.nargs, call.kwnames));
  return result.get() == Py_NotImplemented ? raise_mismatch(set, call) : result.release();
}

// In builds for the tests: see csrc/shadow.
PyObject* without_stray_access(PyObject* result) {
  Ref held(result);
  shadow::check_access();
  return held.release();
}

// `owner` is where users find the function: a module, or the class Tensor.
PyObject* dispatch(const OverloadSet& set, PyObject* owner, const Call& call) {
  try {
    if (is_mode_active()) [[unlikely]]
      return call_override(owner, set.name, call.self, call.args, call.nargs, call.kwnames);
    Match found;
    for (int i = 0; i < set.count; ++i)
      if (match(set, set.overloads[i], call, found, nullptr))
        return without_stray_access(invoke(set.overloads[i], found.slots));
    if (is_overridden(call))
      return call_override(owner, set.name, call.self, call.args, call.nargs, call.kwnames);
    if (set.has_old_order) return in_new_order(set, owner, call);
    return raise_mismatch(set, call);
  } catch (const OnMeta&) {
    return on_meta(set, owner, call);
  } catch (...) {
    set_python_error(set.name);
    return nullptr;
  }
}

}  // namespace

std::string type_name(PyObject* o) {
  if (o == Py_None) return "NoneType";
  const std::string_view full = Py_TYPE(o)->tp_name;
  return std::string(full.substr(full.rfind('.') + 1));
}

PyObject* call_function(const OverloadSet& set, FB_PY_ARGUMENTS) {
  return dispatch(set, self, {nullptr, args, nargs, kwnames});
}

PyObject* call_method(const OverloadSet& set, FB_PY_ARGUMENTS) {
  return dispatch(set, reinterpret_cast<PyObject*>(tensor_type), {self, args, nargs, kwnames});
}

PyObject* call_without_arguments(const OverloadSet& set, FB_PY_ARGUMENTS) {
  if (nargs || kwnames || is_overridden(self) || observe::any())
    return call_method(set, self, args, nargs, kwnames);
  return guarded(set.name, [&] { return set.overloads->invoke(&self); });
}

// The keywords under the names of the body's parameters.
static Ref canonical_keywords(const PythonBody& body, PyObject* kwnames) {
  const Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
  Ref names = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    const char* given = PyUnicode_AsUTF8(key);
    bool is_own = false;
    for (int k = 0; k < body.count; ++k) is_own |= std::string_view(body.args[k].name) == given;
    const char* name = is_own ? given : canonical_name(given, body.args, body.count);
    PyTuple_SET_ITEM(
        names.get(), i,
        name == given ? new_ref(key) : checked(PyUnicode_InternFromString(name)).release());
  }
  return names;
}

// A call of a body in Python: its arguments, with the tensor of a method in front and without
// `out`.
struct PythonCall {
  SmallVec<PyObject*, 12> args;
  Py_ssize_t positional = 0;
  Ref names;
  PyObject* out = nullptr;
};

static PythonCall without_out(const PythonBody& body, const Call& call) {
  PythonCall made;
  for (Py_ssize_t i = 0; i < call.positional(); ++i) {
    if (i == body.out && body.out < kKeywordOut)
      made.out = call.at(i);
    else
      made.args.push_back(call.at(i));
  }
  made.positional = static_cast<Py_ssize_t>(made.args.size());
  if (!call.kwnames) return made;
  const Ref names = canonical_keywords(body, call.kwnames);
  const Ref kept = checked(PyList_New(0));
  for (Py_ssize_t k = 0; k < call.keywords(); ++k) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), k);
    PyObject* value = call.args[call.nargs + k];
    if (body.out != kNoOut && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      FB_CHECK_TYPE(!made.out, body.name, "() got multiple values for argument 'out'");
      made.out = value;
      continue;
    }
    made.args.push_back(value);
    if (PyList_Append(kept.get(), name) < 0) throw PythonError{};
  }
  made.names = checked(PyList_AsTuple(kept.get()));
  return made;
}

PyObject* call_python(PythonBody& body, FB_PY_ARGUMENTS) {
  return guarded(nullptr, [&] {
    const Call call{body.is_method ? self : nullptr, args, nargs, kwnames};
    if (is_overridden(call)) {
      PyObject* owner = body.is_method ? reinterpret_cast<PyObject*>(tensor_type) : self;
      return call_override(owner, body.name, call.self, args, nargs, kwnames);
    }
    if (!body.callable) {
      const Ref module = checked(PyImport_ImportModule(body.module));
      body.callable = checked(PyObject_GetAttrString(module.get(), body.function)).release();
    }
    const PythonCall made = without_out(body, call);
    Ref result(PyObject_Vectorcall(body.callable, made.args.data(),
                                   static_cast<size_t>(made.positional), made.names.get()));
    if (!result || !made.out || made.out == Py_None) return result.release();
    FB_CHECK_TYPE(is_tensor(made.out), body.name, "(): argument 'out' must be Tensor, not ",
                  type_name(made.out));
    return guarded(body.name, [&] {
      store_result(body.name, tensor_of(made.out), tensor_of(result.get()), body.out_rule);
      return new_ref(made.out);
    });
  });
}

PyObject* call_operator_override(const OperatorNames& names, PyObject* a, PyObject* b) {
  try {
    if (!is_tensor(a) && names.reflected) return call_method_override(names.reflected, {b, a});
    return call_method_override(names.method, {a, b});
  } catch (const Error& error) {
    // Nobody has answered; Python may try another way.
    if (error.kind() != ErrorKind::kType) throw;
    return new_ref(Py_NotImplemented);
  }
}

PyObject* wrap(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::kBool: return wrap(value.to<bool>());
    case Scalar::Kind::kInt: return wrap(value.to<int64_t>());
    case Scalar::Kind::kFloat: return wrap(value.to<double>());
    default: {
      const auto z = value.to<Complex<double>>();
      return PyComplex_FromDoubles(z.re, z.im);
    }
  }
}

PyObject* wrap(const std::vector<int64_t>& values) {
  Ref result = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), checked(wrap(values[i])).release());
  return result.release();
}

PyObject* wrap(const std::vector<Tensor>& tensors) {
  Ref result = checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), checked(wrap(tensors[i])).release());
  return result.release();
}

PyObject* wrap(const ops::TensorVector& tensors) {
  Ref result = checked(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), checked(wrap(tensors[i])).release());
  return result.release();
}

PyObject* pack(PyTypeObject* type, PyObject* const* items, size_t count) {
  bool complete = true;
  for (size_t i = 0; i < count; ++i) complete &= items[i] != nullptr;
  PyObject* result = nullptr;
  if (complete)
    result = type ? PyStructSequence_New(type) : PyTuple_New(static_cast<Py_ssize_t>(count));
  if (!result) {
    for (size_t i = 0; i < count; ++i) Py_XDECREF(items[i]);
    throw PythonError{};
  }
  for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(result, static_cast<Py_ssize_t>(i), items[i]);
  return result;
}

PyTypeObject* return_type(const char* name, const char* const* fields, size_t count) {
  // Keyed by the literal's address first: each call site has its own, and all share one type.
  static std::unordered_map<const char*, PyTypeObject*> types;
  static std::unordered_map<std::string, PyTypeObject*> types_by_name;
  PyTypeObject*& type = types[name];
  if (type) return type;
  PyTypeObject*& known = types_by_name[name];
  if (known) return type = known;
  // The descriptor's strings must live as long as the type.
  auto* full_name = new std::string("torch.return_types." + std::string(name));
  auto* members = new std::vector<PyStructSequence_Field>;
  for (size_t i = 0; i < count; ++i) members->push_back({fields[i], nullptr});
  members->push_back({nullptr, nullptr});
  auto* description = new PyStructSequence_Desc{full_name->c_str(), nullptr, members->data(),
                                                static_cast<int>(count)};
  known = PyStructSequence_NewType(description);
  if (!known) throw PythonError{};
  return type = known;
}

void check_given_layout(PyObject* layout, PyObject* like) {
  const Layout made = like && is_tensor(like) ? layout_of(tensor_of(like)) : Layout::kStrided;
  if (layout_of(layout) == made) return;
  const Ref text = checked(PyObject_Repr(layout));
  fail(ErrorKind::kNotImplemented, "cannot make a tensor of layout ", PyUnicode_AsUTF8(text.get()),
       "; use sparse_coo_tensor() or to_sparse() for sparse tensors, to_dense() for strided ones");
}

void store_results(const char* name, PyObject* out, const std::vector<Tensor>& values,
                   ops::OutRule rule) {
  const std::vector<Tensor> places = read::tensor_list(out);
  FB_CHECK_TYPE(places.size() == values.size(), "out must be a tuple of ", values.size(),
                " tensors, got ", places.size());
  for (size_t i = 0; i < values.size(); ++i) store_result(name, places[i], values[i], rule);
}

void check_out_memory(ops::OutRule rule, const Tensor& out,
                      std::initializer_list<PyObject*> inputs) {
  bool is_first = true;
  for (PyObject* input : inputs) {
    if (input && is_tensor(input)) ops::check_output_memory(out, tensor_of(input), is_first, rule);
    is_first = false;
  }
}

PyObject* wrap_outputs(PyTypeObject* type, PyObject* out) {
  SmallVec<PyObject*, 4> items;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(out); ++i)
    items.push_back(new_ref(PySequence_Fast_GET_ITEM(out, i)));
  return pack(type, items.data(), items.size());
}

}  // namespace fb::bind
