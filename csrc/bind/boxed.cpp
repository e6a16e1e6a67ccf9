// Python objects as values of operators, and calls with such values.
#include "bind/boxed.h"

#include "bind/call.h"
#include "bind/generator_object.h"
#include "core/no_device.h"
#include "tape/invoke.h"
#include "tape/registry.h"

namespace fb::bind {
namespace {

using ops::Operator;
using ops::Parameter;
using ops::Value;

Value boxed_list(std::vector<Tensor> tensors) { return Value(std::move(tensors)); }

PyObject* tuple_of(const std::vector<Tensor>& tensors, bool as_list) {
  if (!as_list) return wrap(tensors);
  return wrap(ops::TensorVector(tensors.begin(), tensors.end()));
}

PyObject* object_of(const Operator& op, const ops::Results& results) {
  if (results.empty()) return none();
  if (results.size() == 1) {
    const Value& result = results[0];
    if (result.is(Value::Kind::kTensors))
      return tuple_of(result.tensors(), op.is(ops::kListResult));
    return unboxed(result);
  }
  SmallVec<PyObject*, 4> items;
  for (const Value& result : results) items.push_back(unboxed(result));
  PyTypeObject* type = nullptr;
  if (*op.fields) {
    std::vector<std::string> names;
    for (const char* c = op.fields; *c; ++c) {
      if (names.empty() || *c == ' ') names.emplace_back();
      if (*c != ' ') names.back() += *c;
    }
    // The type keeps pointers to the names, and there is one type for each operator.
    auto* kept = new std::vector<std::string>(std::move(names));
    std::vector<const char*> fields;
    for (const std::string& name : *kept) fields.push_back(name.c_str());
    type = return_type(op.name, fields.data(), fields.size());
  }
  return pack(type, items.data(), items.size());
}

// The argument that a keyword names.
const Parameter* parameter_named(const Operator& op, PyObject* key) {
  for (int i = 0; i < op.count; ++i)
    if (PyUnicode_CompareWithASCIIString(key, op.parameters[i].name) == 0) return &op.parameters[i];
  fail(ErrorKind::kType, op.shown, "() got an unexpected keyword argument '", PyUnicode_AsUTF8(key),
       "'");
}

SmallVec<Value, 8> boxed_arguments(const Operator& op, PyObject* const* args, Py_ssize_t nargs,
                                   PyObject* kwnames) {
  SmallVec<PyObject*, 16> given(op.count, nullptr);
  Py_ssize_t positional = 0;
  while (positional < op.count && !op.parameters[positional].keyword_only) ++positional;
  FB_CHECK_TYPE(nargs <= positional, op.shown, "() takes ", positional,
                " positional arguments, got ", nargs);
  for (Py_ssize_t i = 0; i < nargs; ++i) given[static_cast<size_t>(i)] = args[i];
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
    const Parameter* parameter = parameter_named(op, PyTuple_GET_ITEM(kwnames, k));
    PyObject*& place = given[static_cast<size_t>(parameter - op.parameters)];
    FB_CHECK_TYPE(!place, op.shown, "() got multiple values for argument '", parameter->name, "'");
    place = args[nargs + k];
  }
  SmallVec<Value, 8> values;
  for (size_t i = 0; i < op.count; ++i) {
    const Parameter& parameter = op.parameters[i];
    const bool is_left_out = !given[i] || (given[i] == Py_None && parameter.fallback);
    FB_CHECK_TYPE(given[i] || parameter.fallback, op.shown, "() missing required argument '",
                  parameter.name, "'");
    FB_CHECK_TYPE(is_left_out || fits(parameter.type, given[i]), op.shown, "(): argument '",
                  parameter.name, "' must be ", describe(parameter.type), ", not ",
                  type_name(given[i]));
    values.push_back(is_left_out ? Value() : boxed(parameter.type, given[i]));
  }
  return values;
}

// By number, or by name.
const Operator& operator_of(PyObject* which) {
  if (PyLong_Check(which)) {
    const int64_t number = PyLong_AsLongLong(which);
    FB_CHECK_VALUE(number >= 0 && number < static_cast<int64_t>(tape::kOperatorCount),
                   "there is no operator number ", number);
    return *tape::kOperators[number];
  }
  FB_CHECK_TYPE(PyUnicode_Check(which), "expected the name of an operator, got ",
                Py_TYPE(which)->tp_name);
  const char* name = PyUnicode_AsUTF8(which);
  if (!name) throw PythonError{};
  const Operator* op = tape::find_op(name);
  FB_CHECK_VALUE(op, "there is no operator called '", name, "'");
  return *op;
}

PyObject* invoke(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded(nullptr, [&]() -> PyObject* {
    FB_CHECK_TYPE(nargs > 0, "_invoke needs the name of an operator");
    const Operator& op = operator_of(args[0]);
    FB_CHECK_VALUE(!op.is(ops::kInner), op.shown,
                   " is an inner operator, which trusts its "
                   "arguments, so it cannot be called by name");
    const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (is_mode_active() || is_overridden(args + 1, nargs - 1 + keywords))
      return new_ref(Py_NotImplemented);
    const SmallVec<Value, 8> values = boxed_arguments(op, args + 1, nargs - 1, kwnames);
    return guarded(op.shown, [&] {
      try {
        return object_of(op, tape::invoke_recorded(op, {values.data(), values.size()}));
      } catch (const OnMeta&) {
        return new_ref(Py_NotImplemented);
      }
    });
  });
}

PyObject* described(const Operator& op, size_t number) {
  Ref parameters = checked(PyTuple_New(op.count));
  for (int i = 0; i < op.count; ++i) {
    const Parameter& p = op.parameters[i];
    PyTuple_SET_ITEM(parameters.get(), i,
                     checked(Py_BuildValue("(sszO)", p.name, describe(p.type), p.fallback,
                                           p.keyword_only ? Py_True : Py_False))
                         .release());
  }
  return Py_BuildValue("(nssOi)", static_cast<Py_ssize_t>(number), op.name, op.overload,
                       parameters.get(), static_cast<int>(op.flags));
}

PyObject* find(PyObject*, PyObject* name) {
  return guarded(nullptr, [&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    const Operator* op = tape::find_op(text);
    if (!op) return none();
    for (size_t i = 0; i < tape::kOperatorCount; ++i)
      if (tape::kOperators[i] == op) return described(*op, i);
    return none();
  });
}

PyObject* names(PyObject*, PyObject*) {
  return guarded(nullptr, [&] {
    Ref result = checked(PyDict_New());
    const auto add = [&](const char* name, const Operator& op) {
      const Ref text = checked(PyUnicode_FromString(ops::name_of(op).c_str()));
      if (PyDict_SetItemString(result.get(), name, text.get()) < 0) throw PythonError{};
    };
    for (size_t i = 0; i < tape::kOperatorCount; ++i)
      add(ops::name_of(*tape::kOperators[i]).c_str(), *tape::kOperators[i]);
    for (size_t i = 0; i < tape::kAliasCount; ++i)
      add(tape::kAliases[i].name, *tape::kAliases[i].op);
    return result.release();
  });
}

}  // namespace

Value boxed(ArgType type, PyObject* o) {
  if (!o || o == Py_None) return {};
  switch (type) {
    case ArgType::kTensor:
    case ArgType::kOptTensor: return tensor_of(o);
    case ArgType::kOperand: return is_tensor(o) ? Value(tensor_of(o)) : Value(read::number(o));
    case ArgType::kTensorList:
    case ArgType::kOptTensorList: return boxed_list(read::tensor_list(o));
    case ArgType::kTensorsOrNone: return boxed_list(read::tensors_or_none(o));
    case ArgType::kNumber:
    case ArgType::kOptNumber: return read::number(o);
    case ArgType::kInt:
    case ArgType::kOptInt: return read::integer(o);
    case ArgType::kFloat:
    case ArgType::kOptFloat: return read::real_number(o);
    case ArgType::kOptFloats:
    case ArgType::kOptFactors: return read::optional_float_list(o);
    case ArgType::kBool:
    case ArgType::kOptBool: return read::boolean(o);
    case ArgType::kSize:
    case ArgType::kInts:
    case ArgType::kOptInts:
    case ArgType::kDims:
    case ArgType::kOptDims: return read::int_list(o);
    case ArgType::kSizes: return read::open_sizes(o);
    case ArgType::kStr:
    case ArgType::kOptStr: return read::text(o);
    case ArgType::kDType:
    case ArgType::kOptDType: return read::dtype_value(o);
    case ArgType::kOptDevice: return read::optional_device(o);
    case ArgType::kOptLayout: return read::optional_layout(o);
    case ArgType::kOptMemoryFormat: return read::optional_memory_format(o);
    case ArgType::kOptGenerator: return read::optional_generator(o);
    case ArgType::kAny: break;
  }
  return {};
}

PyObject* unboxed(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kTensor: return wrap(value.tensor());
    case Value::Kind::kNumber: return wrap(value.number());
    case Value::Kind::kTensors: return wrap(value.tensors());
    case Value::Kind::kInts: return wrap(value.ints());
    case Value::Kind::kDType: return wrap(value.dtype());
    case Value::Kind::kText: return PyUnicode_FromString(value.text().c_str());
    case Value::Kind::kFloats: {
      Ref result = checked(PyTuple_New(static_cast<Py_ssize_t>(value.floats().size())));
      for (size_t i = 0; i < value.floats().size(); ++i)
        PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i),
                         checked(wrap(value.floats()[i])).release());
      return result.release();
    }
    case Value::Kind::kDevice: return device_object(value.device());
    case Value::Kind::kLayout: return new_ref(layout_object(value.layout()));
    case Value::Kind::kMemoryFormat: return new_ref(memory_format_object(value.memory_format()));
    case Value::Kind::kGenerator: return generator_object(value.generator());
    case Value::Kind::kNone: break;
  }
  return none();
}

ops::Results results_of(const Operator& op, PyObject* result) {
  const auto value_of = [](PyObject* o) {
    if (is_tensor(o)) return Value(tensor_of(o));
    return is_number(o) ? Value(read::number(o)) : Value();
  };
  if (!PyTuple_Check(result) && !PyList_Check(result)) return {value_of(result)};
  if (Py_TYPE(result) == size_type) return {Value(read::int_list(result))};
  if (op.is(ops::kManyResults)) return {boxed_list(read::tensor_list(result))};
  ops::Results results;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(result); ++i)
    results.push_back(value_of(PySequence_Fast_GET_ITEM(result, i)));
  return results;
}

void add_boxed(PyObject* module) {
  static PyMethodDef functions[] = {
      {"_invoke", as_cfunction(invoke), METH_FASTCALL | METH_KEYWORDS,
       "Calls an operator by its name or number. NotImplemented where a mode, a class or the "
       "device\n"
       "meta answers for it."},
      {"_find_op", find, METH_O, "(number, name, overload, parameters, flags), or None."},
      {"_op_names", names, METH_NOARGS,
       "All names of operators, and the name of each in the table."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module, functions) < 0) throw PythonError{};
}

}  // namespace fb::bind
