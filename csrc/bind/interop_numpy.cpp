// NumPy arrays: from_numpy, Tensor.numpy.
#include <array>
#include <optional>
#include <string>

#include "bind/interop.h"
#include "bind/numpy_api.h"

namespace fb::bind {

namespace {

// NumPy's type numbers by our element type; bfloat16 has none.
constexpr int kNoType = -1;
constexpr int kInt64Type = sizeof(long) == 8 ? 7 : 9;
constexpr std::array<int, kDTypeCount> kTypeNumbers = {0,  2,       1,  3,  5,  kInt64Type,
                                                       23, kNoType, 11, 12, 14, 15};

std::optional<DType> element_type(char kind, int itemsize) {
  switch (kind) {
    case 'b': return DType::kBool;
    case 'u': return itemsize == 1 ? std::optional(DType::kUInt8) : std::nullopt;
    case 'i':
      switch (itemsize) {
        case 1: return DType::kInt8;
        case 2: return DType::kInt16;
        case 4: return DType::kInt32;
        case 8: return DType::kInt64;
      }
      break;
    case 'f':
      switch (itemsize) {
        case 2: return DType::kFloat16;
        case 4: return DType::kFloat32;
        case 8: return DType::kFloat64;
      }
      break;
    case 'c':
      switch (itemsize) {
        case 8: return DType::kComplex64;
        case 16: return DType::kComplex128;
      }
      break;
  }
  return std::nullopt;
}

void warn_read_only() {
  // Once per program: the text is the same each time and the user has read it.
  static bool warned = false;
  if (warned) return;
  warned = true;
  const int failed =
      PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable, and a tensor always is: writing to the "
                   "tensor writes to the "
                   "array. Copy the array first to protect it. This warning is shown once.",
                   1);
  if (failed) throw PythonError{};
}

std::string name_of_element_type(PyObject* array) {
  const Ref dtype = checked(PyObject_GetAttrString(array, "dtype"));
  const Ref type = checked(PyObject_GetAttrString(dtype.get(), "type"));
  const Ref name = checked(PyObject_GetAttrString(type.get(), "__name__"));
  const char* text = PyUnicode_AsUTF8(name.get());
  if (!text) throw PythonError{};
  return text;
}

}  // namespace

bool is_numpy_array(PyObject* object) {
  const NumpyApi* numpy = loaded_numpy_api();
  return numpy && PyObject_TypeCheck(object, numpy->array_type);
}

Tensor from_numpy(PyObject* array) {
  FB_CHECK_TYPE(is_numpy_array(array), "expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
  const Ref capsule = checked(PyObject_GetAttrString(array, "__array_struct__"));
  const auto* view = static_cast<ArrayInterface*>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (!view) throw PythonError{};

  const std::optional<DType> dtype = element_type(view->typekind, view->itemsize);
  FB_CHECK_TYPE(
      dtype, "can't convert np.ndarray of type numpy.", name_of_element_type(array),
      ". The only supported types are: float64, float32, float16, complex64, complex128, int64, "
      "int32, int16, int8, uint8, and bool.");
  FB_CHECK_VALUE(
      view->flags & kArrayNotSwapped || view->itemsize == 1,
      "given numpy array has byte order different from the native byte order. Conversion "
      "between byte orders is currently not supported.");
  Dims sizes, strides;
  for (int i = 0; i < view->nd; ++i) {
    FB_CHECK_VALUE(
        view->strides[i] >= 0,
        "at least one stride of the given numpy array is negative, and tensors have no negative "
        "strides. Make a copy of the array with array.copy().");
    FB_CHECK_VALUE(
        view->strides[i] % view->itemsize == 0,
        "given numpy array strides not a multiple of the element byte size. Copy the numpy "
        "array to reallocate the memory.");
    sizes.push_back(view->shape[i]);
    strides.push_back(view->strides[i] / view->itemsize);
  }
  if (!(view->flags & kArrayWriteable)) warn_read_only();
  const size_t bytes = static_cast<size_t>(span_of(sizes, strides)) * view->itemsize;
  return tensor_over(adopt_python(view->data, bytes, array), sizes, strides, 0, *dtype);
}

PyObject* to_numpy(const Tensor& tensor) {
  const int type_number = kTypeNumbers[static_cast<int>(tensor.dtype())];
  FB_CHECK_TYPE(type_number != kNoType, "Got unsupported ScalarType ",
                legacy_name_of(tensor.dtype()));
  const NumpyApi& numpy = numpy_api();
  const auto itemsize = static_cast<int64_t>(tensor.element_size());
  Dims shape, strides;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    shape.push_back(tensor.sizes()[i]);
    strides.push_back(tensor.strides()[i] * itemsize);
  }
  static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));
  const auto* shape_data = reinterpret_cast<const Py_intptr_t*>(shape.data());
  const auto* strides_data = reinterpret_cast<const Py_intptr_t*>(strides.data());
  Ref array = checked(numpy.new_array(
      numpy.array_type, static_cast<int>(tensor.dim()), shape_data, type_number, strides_data,
      tensor.data(), static_cast<int>(itemsize), kArrayAligned | kArrayWriteable, nullptr));
  if (numpy.set_base_object(array.get(), storage_capsule(tensor.storage())) < 0)
    throw PythonError{};
  return array.release();
}

}  // namespace fb::bind
