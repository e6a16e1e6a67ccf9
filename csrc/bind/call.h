// From a Python call to an operator: choosing the overload, and wrapping what comes back.
#pragma once

#include <array>
#include <tuple>

#include "autograd/history.h"
#include "bind/arguments.h"
#include "bind/override.h"
#include "bind/value_types.h"
#include "ops/operator.h"
#include "ops/output.h"
#include "ops/types.h"
#include "tape/store.h"

namespace fb::bind {

struct ArgSpec {
  const char* name;
  ArgType type;
  bool required;
  uint8_t slot;
};

// One signature. `invoke` reads the matched arguments: slots[i] is null where the argument was left
// out.
struct Overload {
  const char* text;
  const ArgSpec* args;
  uint8_t count;
  uint8_t positional;
  uint8_t slots;
  PyObject* (*invoke)(PyObject* const* slots);
  // Its row of the table; null where the operator tells observers itself.
  const ops::Operator* op = nullptr;
};

struct OverloadSet {
  const char* name;
  const Overload* overloads;
  uint8_t count;
  // Whether old programs give its factors before its tensors.
  bool has_old_order = false;
};

// Tries the overloads in table order; if none fits, raises a TypeError that says why.
PyObject* call_function(const OverloadSet& set, FB_PY_ARGUMENTS);
// The same with `self` as the first argument.
PyObject* call_method(const OverloadSet& set, FB_PY_ARGUMENTS);

// A method without arguments: matching is needed only to refuse them, and to tell profilers.
PyObject* call_without_arguments(const OverloadSet& set, FB_PY_ARGUMENTS);

// How an operator with a Python body takes `out`, which the body never sees: by name only, or not.
constexpr uint8_t kKeywordOut = 254, kNoOut = 255;
// An operator whose body is Python, imported when it is first called.
struct PythonBody {
  const char* name;  // as users call it
  bool is_method;
  const char* module;
  const char* function;
  const ArgSpec* args;
  uint8_t count;
  uint8_t out = kNoOut;  // the position of `out` among the arguments
  ops::OutRule out_rule = 0;
  PyObject* callable = nullptr;
};
PyObject* call_python(PythonBody& body, FB_PY_ARGUMENTS);

// --- results

inline PyObject* wrap(bool value) { return PyBool_FromLong(value); }
inline PyObject* wrap(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* wrap(double value) { return PyFloat_FromDouble(value); }
PyObject* wrap(const Scalar& value);
PyObject* wrap(const std::vector<int64_t>& values);
PyObject* wrap(const std::vector<Tensor>& tensors);
PyObject* wrap(const ops::TensorVector& tensors);
inline PyObject* wrap(DType t) { return new_ref(dtype_object(t)); }
inline PyObject* wrap(IntSpan sizes) { return size_object(sizes); }
inline PyObject* wrap(const Dims& sizes) { return size_object(sizes); }

PyObject* pack(PyTypeObject* type, PyObject* const* items, size_t count);

template <class... T>
PyObject* wrap_named(PyTypeObject* type, const std::tuple<T...>& values) {
  return std::apply(
      [&](const auto&... value) {
        PyObject* items[] = {wrap(value)...};
        return pack(type, items, sizeof...(value));
      },
      values);
}
template <class... T>
PyObject* wrap(const std::tuple<T...>& values) {
  return wrap_named(nullptr, values);
}
inline PyObject* wrap(const ops::OneOrTwo& results) {
  return std::visit([](const auto& result) { return wrap(result); }, results);
}

// The named tuple torch.return_types.<name>, made when first asked for.
PyTypeObject* return_type(const char* name, const char* const* fields, size_t count);
template <size_t N>
PyTypeObject* return_type(const char* name, const std::array<const char*, N>& fields) {
  return return_type(name, fields.data(), N);
}

inline PyObject* same(PyObject* object) { return new_ref(object); }
inline PyObject* changed(PyObject* object, const char* by) {
  tensor_of(object).bump_version(by);
  return new_ref(object);
}

// The type of a result that goes into `out`; refuses any other dtype argument.
inline DType dtype_into(PyObject* dtype, PyObject* out) {
  const std::optional<DType> given = read::optional_dtype(dtype);
  const DType made = tensor_of(out).dtype();
  FB_CHECK(!given || *given == made, "dtype ", *given, " does not match the type ", made,
           " of out");
  return made;
}

using tape::store_result;
// out=(a, b): stores each result in its place, then returns them in the result's own form.
void store_results(const char* name, PyObject* out, const std::vector<Tensor>& values,
                   ops::OutRule rule);
template <class... T>
void store_results(const char* name, PyObject* out, const std::tuple<T...>& values,
                   ops::OutRule rule) {
  std::apply(
      [&](const auto&... value) { store_results(name, out, std::vector<Tensor>{value...}, rule); },
      values);
}
// Refuses memory that `out` and an input share, if the rule forbids it. An input is null, None, a
// tensor, a number, or a list of them.
void check_out_memory(ops::OutRule rule, const Tensor& out,
                      std::initializer_list<PyObject*> inputs);
PyObject* wrap_outputs(PyTypeObject* type, PyObject* out);

// For operators without a sparse form: `given` is null, None, a tensor, a number, or a list of
// them.
inline void check_dense(const char* name, PyObject* given) {
  if (!given) return;
  if (is_tensor(given)) return fb::check_dense(name, tensor_of(given));
  if (!PyTuple_Check(given) && !PyList_Check(given)) return;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(given); ++i)
    if (PyObject* item = PySequence_Fast_GET_ITEM(given, i); is_tensor(item))
      fb::check_dense(name, tensor_of(item));
}
// Refuses a layout that the result will not have: `like` is the tensor that the result imitates.
void check_given_layout(PyObject* layout, PyObject* like);
inline void check_layout(PyObject* layout, PyObject* like) {
  if (layout && layout != Py_None) check_given_layout(layout, like);
}

inline Tensor with_requires_grad(Tensor tensor, PyObject* flag) {
  if (flag && read::boolean(flag)) autograd::set_requires_grad(tensor, true);
  return tensor;
}

// --- operators of the number protocol: if a type does not fit, they leave it to Python to ask the
// other operand

// The names of an operator: in messages, and as the method that an override gets, reflected if only
// the right operand is a tensor.
struct OperatorNames {
  const char* name;
  const char* method;
  const char* reflected;
};
PyObject* call_operator_override(const OperatorNames& names, PyObject* a, PyObject* b);

template <class F>
PyObject* unary_slot(const OperatorNames& names, PyObject* a, F&& f) {
  return guarded(names.name, [&] {
    if (is_overridden(a)) [[unlikely]]
      return call_method_override(names.method, {a});
    return wrap(f(a));
  });
}
// The tensor on the memory of a NumPy array; empty for any other object. See interop.h.
Ref tensor_on_array(PyObject* object);
template <class F>
PyObject* binary_slot(const OperatorNames& names, ArgType left, ArgType right, PyObject* a,
                      PyObject* b, F&& f) {
  const auto is_fit = [](ArgType type, PyObject* o) {
    return Py_TYPE(o) == tensor_type || fits(type, o);  // every slot takes tensors
  };
  if (is_fit(left, a) && is_fit(right, b) && !is_mode_active()) [[likely]]
    return guarded(names.name, [&] { return wrap(f(a, b)); });
  return guarded(names.name, [&] {
    PyObject* const operands[] = {a, b};
    if (is_overridden(operands, 2)) return call_operator_override(names, a, b);
    const Ref x = tensor_on_array(a), y = tensor_on_array(b);
    PyObject* first = x ? x.get() : a;
    PyObject* second = y ? y.get() : b;
    if (!fits(left, first) || !fits(right, second)) return new_ref(Py_NotImplemented);
    return wrap(f(first, second));
  });
}
template <class F>
PyObject* inplace_slot(const OperatorNames& names, ArgType right, PyObject* a, PyObject* b, F&& f) {
  return guarded(names.name, [&] {
    PyObject* const operands[] = {a, b};
    if (is_overridden(operands, 2)) [[unlikely]]
      return call_operator_override(names, a, b);
    if (!fits(right, b)) return new_ref(Py_NotImplemented);
    f(a, b);
    return new_ref(a);
  });
}

}  // namespace fb::bind
