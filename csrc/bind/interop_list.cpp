// Elements as Python numbers: tolist, item.
#include "autograd/batch.h"
#include "bind/interop.h"
#include "ops/host.h"

namespace fb::bind {

namespace {

template <class T>
PyObject* number(const T& value) {
  if constexpr (kIsBool<T>)
    return PyBool_FromLong(is_true(&value));
  else if constexpr (kIsComplex<T>)
    return PyComplex_FromDoubles(value.re, value.im);
  else if constexpr (is_integral(kDTypeOf<T>))
    return PyLong_FromLongLong(value);
  else
    return PyFloat_FromDouble(convert<double>(value));
}

template <class T>
PyObject* list_of(const T* data, IntSpan sizes, IntSpan strides) {
  if (sizes.empty()) return number(*data);
  PyObject* list = PyList_New(sizes[0]);
  if (!list) return nullptr;
  const IntSpan inner_sizes = sizes.last(sizes.size() - 1);
  const IntSpan inner_strides = strides.last(strides.size() - 1);
  for (int64_t i = 0; i < sizes[0]; ++i) {
    PyObject* item = list_of(data + i * strides[0], inner_sizes, inner_strides);
    if (!item) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, item);
  }
  return list;
}

}  // namespace

PyObject* to_python_number(DType dtype, const void* element) {
  return visit_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return number(*static_cast<const T*>(element));
  });
}

PyObject* to_list(const Tensor& given) {
  autograd::check_has_elements(given, "tolist");
  const Tensor tensor = ops::on_device(given, kHost);
  PyObject* list = visit_all(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return list_of(tensor.data_as<T>(), tensor.sizes(), tensor.strides());
  });
  if (!list) throw PythonError{};
  return list;
}

}  // namespace fb::bind
