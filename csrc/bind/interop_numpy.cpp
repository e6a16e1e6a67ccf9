// NumPy arrays: from_numpy, Tensor.numpy.
#include <array>
#include <bit>
#include <optional>

#include "bind/call.h"
#include "bind/interop.h"
#include "bind/numpy_api.h"
#include "ops/layout.h"

namespace fb::bind {

namespace {

// NumPy's type numbers by our element type; bfloat16 has none. NumPy tells C's types apart, so one
// of long and long long is a second name of int64 or int32.
constexpr int kNoType = -1, kLong = 7, kLongLong = 9;
constexpr bool kLongIs64 = sizeof(long) == 8;
constexpr int kInt64Type = kLongIs64 ? kLong : kLongLong;
constexpr std::array<int, kDTypeCount> kTypeNumbers = {0,  2,       1,  3,  5,  kInt64Type,
                                                       23, kNoType, 11, 12, 14, 15};

std::optional<DType> element_type(int type_number) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kTypeNumbers[i] == type_number) return static_cast<DType>(i);
  if (type_number == kLongLong) return DType::kInt64;
  if (type_number == kLong) return DType::kInt32;
  return std::nullopt;
}

void warn_read_only() {
  // Once per program: the text is always the same.
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

}  // namespace

bool is_numpy_array(PyObject* object) {
  const NumpyApi* numpy = loaded_numpy_api();
  return numpy && PyObject_TypeCheck(object, numpy->array_type);
}

Tensor from_numpy(PyObject* object, bool for_reading) {
  FB_CHECK_TYPE(is_numpy_array(object), "expected np.ndarray (got ", Py_TYPE(object)->tp_name, ")");
  const auto& array = *reinterpret_cast<const Array*>(object);
  const std::optional<DType> dtype = element_type(array.description->type_number);
  FB_CHECK_TYPE(
      dtype, "can't convert np.ndarray of type ", array.description->scalar_type->tp_name,
      ". The only supported types are: float64, float32, float16, complex64, complex128, int64, "
      "int32, int16, int8, uint8, and bool.");
  constexpr char kSwapped = std::endian::native == std::endian::little ? '>' : '<';
  FB_CHECK_VALUE(
      array.description->byte_order != kSwapped,
      "given numpy array has byte order different from the native byte order. Conversion "
      "between byte orders is currently not supported.");
  const auto itemsize = static_cast<int64_t>(size_of(*dtype));
  Dims sizes, strides;
  for (int i = 0; i < array.nd; ++i) {
    FB_CHECK_VALUE(
        array.strides[i] >= 0,
        "at least one stride of the given numpy array is negative, and tensors have no negative "
        "strides. Make a copy of the array with array.copy().");
    FB_CHECK_VALUE(
        array.strides[i] % itemsize == 0,
        "given numpy array strides not a multiple of the element byte size. Copy the numpy "
        "array to reallocate the memory.");
    sizes.push_back(array.shape[i]);
    strides.push_back(array.strides[i] / itemsize);
  }
  if (!for_reading && !(array.flags & kArrayWriteable)) warn_read_only();
  const auto bytes = static_cast<size_t>(span_of(sizes, strides) * itemsize);
  return tensor_over(adopt_python(array.data, bytes, object), sizes, strides, 0, *dtype, kHost);
}

Ref tensor_on_array(PyObject* object) {
  return is_numpy_array(object) ? Ref(wrap(from_numpy(object, true))) : Ref();
}

PyObject* to_numpy(const Tensor& tensor) {
  FB_CHECK_TYPE(tensor.device() == kHost, "can't convert ", tensor.device(),
                " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                "first.");
  ops::settle(tensor);
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
