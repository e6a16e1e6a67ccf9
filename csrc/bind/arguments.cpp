// Python arguments: matching and reading.
#include "bind/arguments.h"

#include "autograd/history.h"
#include "bind/generator_object.h"
#include "bind/items.h"
#include "bind/override.h"
#include "bind/tape.h"
#include "bind/value_types.h"
#include "core/scalar.h"
#include "ops/host.h"

namespace fb::bind {
namespace {

bool is_sequence(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }

bool all_items(PyObject* o, bool (*accept)(PyObject*)) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  PyObject** items = PySequence_Fast_ITEMS(o);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!accept(items[i])) return false;
  return true;
}

bool is_int_sequence(PyObject* o) { return is_sequence(o) && all_items(o, is_integer_like); }
bool is_float_sequence(PyObject* o) { return is_sequence(o) && all_items(o, is_number); }
bool is_size_or_none(PyObject* o) { return o == Py_None || is_integer_like(o); }
bool is_size_sequence(PyObject* o) { return is_sequence(o) && all_items(o, is_size_or_none); }
bool is_tensor_or_none(PyObject* o) { return o == Py_None || is_native_tensor(o); }
bool is_tensor_sequence(PyObject* o) { return is_sequence(o) && all_items(o, is_native_tensor); }

// A tensor with a history is not read as a number: the history would be lost.
bool is_single_element(PyObject* o) {
  return is_native_tensor(o) && tensor_of(o).numel() == 1 && !autograd::requires_grad(tensor_of(o));
}

// NumPy's scalars behave like numbers without being Python's; arrays have a length.
bool is_foreign_scalar(PyObject* o) {
  const PyTypeObject* type = Py_TYPE(o);
  if (!type->tp_as_number || !(type->tp_as_number->nb_float || type->tp_as_number->nb_index))
    return false;
  if (type->tp_as_sequence && type->tp_as_sequence->sq_length) return false;
  return !is_tensor(o) && !PyType_Check(o) && !overrides(o);
}

bool is_numpy_bool(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  return std::string_view(name) == "numpy.bool" || std::string_view(name) == "numpy.bool_";
}

// It had one element when the overload was chosen; another argument's code may have run since.
Scalar element_of(const Tensor& t) {
  FB_CHECK_TYPE(t.numel() == 1, "a tensor given as a number has ", t.numel(), " elements");
  if (t->is_promised()) refuse_missing_memory();
  const Scalar element = ops::host_number(t);
  if (observe::watches(observe::kRecord)) [[unlikely]]
    note_read(t, "item", element);
  return element;
}

// A size of a program that is recorded, which is an argument of the call to come.
[[gnu::noinline]] int64_t noted_size(PyObject* o) {
  if (tape::Tape* tape = tape::tracing()) give_size(*tape, "", -1, o);
  return size_value(o);
}

}  // namespace

bool is_integer_like(PyObject* o) {
  if (PyLong_Check(o)) return !PyBool_Check(o);
  if (PyFloat_Check(o) || PyUnicode_Check(o)) return false;
  if (is_tensor(o))
    return is_native_tensor(o) && tensor_of(o).dim() == 0 &&
           is_integral(tensor_of(o).dtype(), false);
  return PyIndex_Check(o) && is_foreign_scalar(o);
}

bool is_number(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_foreign_scalar(o);
}

bool fits(ArgType type, PyObject* o) {
  const bool is_none = o == Py_None;
  switch (type) {
    case ArgType::kTensor: return is_native_tensor(o);
    case ArgType::kOptTensor: return is_none || is_native_tensor(o);
    case ArgType::kOperand: return is_native_tensor(o) || is_number(o);
    case ArgType::kTensorList: return is_tensor_sequence(o);
    case ArgType::kOptTensorList: return is_none || is_tensor_sequence(o);
    case ArgType::kTensorsOrNone: return is_sequence(o) && all_items(o, is_tensor_or_none);
    case ArgType::kNumber: return is_number(o) || (is_single_element(o) && tensor_of(o).dim() == 0);
    case ArgType::kOptNumber: return is_none || fits(ArgType::kNumber, o);
    case ArgType::kInt: return is_integer_like(o);
    case ArgType::kOptInt: return is_none || is_integer_like(o);
    case ArgType::kFloat: return (is_number(o) && !PyComplex_Check(o)) || is_single_element(o);
    case ArgType::kOptFloat: return is_none || fits(ArgType::kFloat, o);
    case ArgType::kOptFloats: return is_none || is_float_sequence(o);
    case ArgType::kOptFactors: return is_none || is_float_sequence(o) || fits(ArgType::kFloat, o);
    case ArgType::kBool: return PyBool_Check(o) || is_numpy_bool(o);
    case ArgType::kOptBool: return is_none || fits(ArgType::kBool, o);
    case ArgType::kSize:
    case ArgType::kDims: return is_int_sequence(o) || is_integer_like(o);
    case ArgType::kInts: return is_int_sequence(o);
    case ArgType::kOptInts: return is_none || is_int_sequence(o);
    case ArgType::kOptDims: return is_none || fits(ArgType::kDims, o);
    case ArgType::kSizes: return is_size_sequence(o) || is_size_or_none(o);
    case ArgType::kStr: return PyUnicode_Check(o);
    case ArgType::kOptStr: return is_none || PyUnicode_Check(o);
    case ArgType::kDType: return is_dtype(o);
    case ArgType::kOptDType: return is_none || is_dtype(o);
    case ArgType::kOptDevice: return is_none || is_device_like(o);
    case ArgType::kOptLayout: return is_none || is_layout(o);
    case ArgType::kOptMemoryFormat: return is_none || is_memory_format(o);
    case ArgType::kOptGenerator: return is_none || is_generator(o);
    case ArgType::kAny: return true;
  }
  return false;
}

namespace read {

const Tensor& optional_tensor(PyObject* o) {
  static const Tensor undefined;
  return o && o != Py_None ? tensor_of(o) : undefined;
}

Operand operand(PyObject* o) { return is_tensor(o) ? Operand(tensor_of(o)) : Operand(number(o)); }

namespace {

std::vector<Tensor> tensors_of(PyObject* o, bool or_none) {
  std::vector<Tensor> result;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  result.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    if (or_none && item == Py_None) {
      result.emplace_back();
      continue;
    }
    // They were, when the overload was chosen; another argument's code may have run since.
    FB_CHECK_TYPE(is_tensor(item),
                  "a list of tensors was changed while it was read, and now has a ",
                  Py_TYPE(item)->tp_name);
    result.push_back(tensor_of(item));
  }
  return result;
}

}  // namespace

std::vector<Tensor> tensor_list(PyObject* o) { return tensors_of(o, false); }

std::vector<Tensor> tensors_or_none(PyObject* o) { return tensors_of(o, true); }

OptionalTensors optional_tensor_list(PyObject* o) {
  if (!o || o == Py_None) return {};
  return {true, tensor_list(o)};
}

Scalar number(PyObject* o) {
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (is_tensor(o)) return element_of(tensor_of(o));
  if (PyComplex_Check(o))
    return Scalar(Complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (is_numpy_bool(o)) return Scalar(PyObject_IsTrue(o) == 1);
  if (PyLong_Check(o) || PyIndex_Check(o)) return Scalar(integer(o));
  const double value = PyFloat_AsDouble(o);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return Scalar(value);
}

std::optional<Scalar> optional_number(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return number(o);
}

int64_t integer(PyObject* o) {
  if (PyLong_CheckExact(o)) {
    const int64_t value = PyLong_AsLongLong(o);
    if (value == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      fail(ErrorKind::kRuntime, "the integer does not fit in 64 bits (Overflow)");
    }
    return value;
  }
  if (is_tensor(o)) return element_of(tensor_of(o)).to<int64_t>();
  if (is_size(o)) [[unlikely]]
    return noted_size(o);
  const Ref exact = checked(PyNumber_Index(o));
  return integer(exact.get());
}

std::optional<int64_t> optional_integer(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return integer(o);
}

double real_number(PyObject* o) {
  if (is_tensor(o)) return element_of(tensor_of(o)).to<double>();
  const double value = PyFloat_AsDouble(o);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}

std::optional<double> optional_real_number(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return real_number(o);
}

bool boolean(PyObject* o) {
  const int value = PyObject_IsTrue(o);
  if (value < 0) throw PythonError{};
  return value == 1;
}

std::optional<bool> optional_boolean(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return boolean(o);
}

std::optional<std::vector<double>> optional_float_list(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  if (!is_sequence(o)) return std::vector<double>{real_number(o)};
  std::vector<double> result;
  for_each_item(o, [&](PyObject* item) { result.push_back(real_number(item)); });
  return result;
}

namespace {

[[gnu::noinline]] Dims held_int_list(PyObject* o) {
  Dims result;
  for_each_item(o, [&](PyObject* item) { result.push_back(integer(item)); });
  return result;
}

}  // namespace

Dims int_list(PyObject* o) {
  Dims result;
  if (!PyTuple_Check(o) && !PyList_Check(o)) {
    result.push_back(integer(o));
    return result;
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  result.resize(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    if (!PyLong_CheckExact(item)) return held_int_list(o);  // it may run code
    result[static_cast<size_t>(i)] = integer(item);
  }
  return result;
}

OptionalInts optional_int_list(PyObject* o) {
  if (!o || o == Py_None) return {};
  return {true, int_list(o)};
}

Dims open_sizes(PyObject* o) {
  const auto read = [](PyObject* size) {
    return size == Py_None ? std::numeric_limits<int64_t>::min() : integer(size);
  };
  Dims result;
  if (!is_sequence(o)) {
    result.push_back(read(o));
    return result;
  }
  for_each_item(o, [&](PyObject* item) { result.push_back(read(item)); });
  return result;
}

std::string text(PyObject* o) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(o, &size);
  if (!data) throw PythonError{};
  return std::string(data, static_cast<size_t>(size));
}

std::optional<std::string> optional_text(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return text(o);
}

DType dtype_value(PyObject* o) { return dtype_of(o); }

std::optional<DType> optional_dtype(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return dtype_of(o);
}

std::optional<Device> optional_device(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return device_of(o);
}

std::optional<Layout> optional_layout(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return layout_of(o);
}

std::optional<MemoryFormat> optional_memory_format(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return memory_format_of(o);
}

Generator* optional_generator(PyObject* o) { return o && o != Py_None ? generator_of(o) : nullptr; }

}  // namespace read
}  // namespace fb::bind
