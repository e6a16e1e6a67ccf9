// Nested sequences of numbers: their shape, their type, their elements.
#include "bind/from_data.h"

#include <cmath>
#include <string_view>

#include "autograd/batch.h"
#include "bind/call.h"
#include "bind/interop.h"
#include "bind/items.h"
#include "bind/tape.h"
#include "gen/ops/copy.h"
#include "gen/ops/view.h"
#include "ops/host.h"

namespace fb::bind {
namespace {

using MaybeType = std::optional<DType>;

bool is_text(PyObject* o) { return PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o); }

// Clears an error of these kinds; any other is passed on.
template <class... Kinds>
void clear_if(Kinds... kinds) {
  if (!(PyErr_ExceptionMatches(kinds) || ...)) throw PythonError{};
  PyErr_Clear();
}

// Something to descend into. Tensors and numbers are elements.
bool is_nested(PyObject* o) {
  if (PyList_Check(o) || PyTuple_Check(o)) return true;
  if (PyFloat_Check(o) || PyLong_Check(o) || is_tensor(o) || is_text(o) || !PySequence_Check(o))
    return false;
  if (PySequence_Size(o) >= 0) return true;
  clear_if(PyExc_TypeError);  // a 0-dimensional NumPy array, or a NumPy scalar
  return false;
}

Ref items_of(PyObject* sequence) { return checked(PySequence_Fast(sequence, "not a sequence")); }

// The length at every level, along the first elements.
Dims shape_of(PyObject* data) {
  Dims sizes;
  Ref first(new_ref(data));  // held: asking for a length may run code that changes the lists
  while (is_nested(first.get())) {
    const Ref items = items_of(first.get());
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    sizes.push_back(n);
    FB_CHECK_VALUE(sizes.size() <= kMaxDims, "too many dimensions: sequences nested more than ",
                   kMaxDims, " deep");
    if (n == 0) break;
    first = Ref(new_ref(PySequence_Fast_GET_ITEM(items.get(), 0)));
  }
  FB_CHECK_VALUE(sizes.empty() || !is_text(first.get()), "too many dimensions '",
                 Py_TYPE(first.get())->tp_name, "'");
  return sizes;
}

// NumPy's scalars carry their type in their name: "numpy.float32".
MaybeType numpy_scalar_type(PyObject* o) {
  std::string_view name = Py_TYPE(o)->tp_name;
  constexpr std::string_view kPrefix = "numpy.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name == "bool_") return DType::kBool;
  if (name == "longlong") return DType::kInt64;
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == name_of(DType(i))) return DType(i);
  return std::nullopt;
}

DType type_of_element(PyObject* o) {
  if (const MaybeType type = numpy_scalar_type(o)) return *type;
  if (is_tensor(o)) return tensor_of(o).dtype();
  if (PyFloat_Check(o)) return default_dtype();
  if (PyBool_Check(o)) return DType::kBool;
  if (PyLong_Check(o) || is_size(o)) return DType::kInt64;
  if (PyComplex_Check(o)) return complex_type(default_dtype());
  if (PyNumber_Check(o)) {  // a 0-dimensional array
    const Ref item(PyObject_CallMethod(o, "item", nullptr));
    if (item) return type_of_element(item.get());
    clear_if(PyExc_AttributeError, PyExc_TypeError, PyExc_ValueError);
  }
  fail(ErrorKind::kRuntime, "could not infer dtype of ", Py_TYPE(o)->tp_name);
}

// Joins the types of all elements into `found`.
void infer_type(PyObject* data, size_t depth, MaybeType& found) {
  if (depth == 0) {
    const DType type = type_of_element(data);
    found = found ? promote(*found, type) : type;
    return;
  }
  if (!is_nested(data)) return;  // a ragged list: storing the elements says so
  const PyTypeObject* previous = nullptr;
  for_each_item(items_of(data).get(), [&](PyObject* item) {
    // Long lists hold one type of number: look at a type once.
    const bool seen = depth == 1 && Py_TYPE(item) == previous && !is_tensor(item);
    if (!seen) infer_type(item, depth - 1, found);
    previous = Py_TYPE(item);
  });
}

template <class T>
T integer_element(int64_t value) {
  // A negative number wraps into an unsigned type, as it does in PyTorch.
  const bool fits =
      sizeof(T) == 8 || (value <= static_cast<int64_t>(std::numeric_limits<T>::max()) &&
                         (value >= static_cast<int64_t>(std::numeric_limits<T>::min()) ||
                          (!kIsSigned<T> && -value <= std::numeric_limits<T>::max())));
  FB_CHECK(fits, "value ", value, " cannot be converted to type ", kDTypeOf<T>,
           " without overflow");
  return static_cast<T>(value);
}

void check_elements(PyObject* tensor) {
  FB_CHECK(!is_on_meta(tensor),
           "a tensor on meta has no elements to copy; clone() and to() make one "
           "like it");
}

// Whatever is neither a plain float nor a plain int.
Scalar number_of(PyObject* o) {
  if (is_tensor(o)) {
    check_elements(o);
    const Tensor& t = tensor_of(o);
    fb::check_dense("tensor", t);
    FB_CHECK_VALUE(t.numel() == 1, "only tensors of a single element can be elements, got size ",
                   t.sizes());
    const Scalar number = ops::host_number(t);
    if (observe::watches(observe::kRecord)) [[unlikely]]
      note_read(t, "item", number);
    return number;
  }
  if (is_number(o)) return read::number(o);
  FB_CHECK_TYPE(PyNumber_Check(o) && !is_nested(o), "expected a number, got '", Py_TYPE(o)->tp_name,
                "'");
  const Ref item = checked(PyObject_CallMethod(o, "item", nullptr));
  return read::number(item.get());
}

template <class T>
T element(PyObject* o) {
  constexpr bool is_integer = is_integral(kDTypeOf<T>, false);
  if constexpr (!is_integer && !kIsBool<T>) {
    if (PyFloat_CheckExact(o)) return convert<T>(PyFloat_AS_DOUBLE(o));
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(o, &overflow);
    FB_CHECK_VALUE(overflow == 0 || !(is_integer || kIsBool<T>),
                   "an integer does not fit in 64 bits (Overflow)");
    if (overflow != 0) {
      const double wide = PyLong_AsDouble(o);
      if (wide == -1 && PyErr_Occurred()) throw PythonError{};
      return convert<T>(wide);
    }
    if constexpr (is_integer)
      return integer_element<T>(value);
    else
      return convert<T>(value);
  }
  const Scalar value = number_of(o);
  FB_CHECK_TYPE(kIsComplex<T> || kIsBool<T> || value.kind() != Scalar::Kind::kComplex,
                "an element must be a real number, not complex");
  if constexpr (is_integer) {
    if (value.kind() == Scalar::Kind::kFloat) {
      const double real = value.to<double>();
      FB_CHECK(std::fabs(real) < 0x1p63, "value ", real, " cannot be converted to type ",
               kDTypeOf<T>, " without overflow");
    }
    return integer_element<T>(value.to<int64_t>());
  } else {
    return value.to<T>();
  }
}

// Fills `out` with the elements of `data`; returns where they end.
template <class T>
T* store(PyObject* data, IntSpan sizes, size_t depth, T* out) {
  FB_CHECK_TYPE(is_nested(data), "not a sequence: expected ", sizes.size() - depth,
                " more dimensions at dim ", depth, ", got '", Py_TYPE(data)->tp_name, "'");
  const Ref items = items_of(data);
  const auto check_length = [&](Py_ssize_t n) {
    FB_CHECK_VALUE(n == sizes[depth], "expected sequence of length ", sizes[depth], " at dim ",
                   depth, " (got ", n, ")");
  };
  check_length(PySequence_Fast_GET_SIZE(items.get()));
  const bool is_last = depth + 1 == sizes.size();
  int64_t stored = 0;
  for_each_item(items.get(), [&](PyObject* item) {
    if (++stored > sizes[depth]) check_length(stored);  // it has grown in the meantime
    if (is_last)
      *out++ = element<T>(item);
    else
      out = store(item, sizes, depth + 1, out);
  });
  check_length(stored);
  return out;
}

}  // namespace

Tensor tensor_from_data(PyObject* data, MaybeType dtype) {
  if (is_tensor(data) || is_numpy_array(data)) {
    if (is_tensor(data)) check_elements(data);
    if (is_tensor(data) && is_recorded()) [[unlikely]]
      return ops::to_copy(recorded_detach(tensor_of(data)),
                          dtype.value_or(tensor_of(data).dtype()));
    const Tensor from = is_tensor(data) ? tensor_of(data) : from_numpy(data, true);
    if (from->flags & kBatched) return autograd::copy_of_batch(from, dtype);
    if (is_sparse(from))
      return ops::to_dtype(autograd::detached(from), dtype.value_or(from.dtype()), false, true);
    return dtype && *dtype != from.dtype() ? ops::cast(from, *dtype) : ops::copy_of(from);
  }
  if (is_cuda_array(data)) [[unlikely]] {
    const Tensor from = from_cuda_array(data);
    return dtype && *dtype != from.dtype() ? ops::cast(from, *dtype) : ops::copy_of(from);
  }
  FB_CHECK_TYPE(!is_text(data), "invalid data type '", Py_TYPE(data)->tp_name, "'");
  const Dims sizes = shape_of(data);
  if (!dtype) {
    infer_type(data, sizes.size(), dtype);
    if (!dtype) dtype = default_dtype();
  }
  Tensor out = make_tensor(sizes, *dtype, kHost);
  if (out.numel() == 0) return out;
  visit_all(*dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (sizes.empty())
      *out.data_as<T>() = element<T>(data);
    else
      store(data, sizes, 0, out.data_as<T>());
  });
  return out;
}

Tensor tensor_on_data(PyObject* data, MaybeType dtype) {
  if (!is_tensor(data) && !is_numpy_array(data)) {
    if (!is_cuda_array(data)) return tensor_from_data(data, dtype);
    const Tensor shared = from_cuda_array(data);
    return dtype ? ops::cast(shared, *dtype) : shared;
  }
  const Tensor shared = is_tensor(data) ? tensor_of(data) : from_numpy(data);
  if (dtype && *dtype != shared.dtype() && is_tensor(data)) check_elements(data);
  if (is_sparse(shared)) return dtype ? ops::to_dtype(shared, *dtype) : shared;
  if (is_recorded() && dtype && *dtype != shared.dtype()) [[unlikely]]
    return ops::to_copy(shared, *dtype);
  return dtype ? ops::cast(shared, *dtype) : shared;
}

}  // namespace fb::bind
