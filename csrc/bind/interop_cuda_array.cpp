// __cuda_array_interface__: tensors on the memory of arrays of other libraries on a GPU, by
// versions 2 and 3 of the protocol. Tensor.__cuda_array_interface__ is in
// flambeau/_core/interop.py.
#include "bind/arguments.h"
#include "bind/interop.h"
#include "bind/items.h"
#include "core/device_memory.h"
#include "core/dtype.h"
#include "cuda/allocator.h"
#include "cuda/context.h"
#include "cuda/stream.h"

namespace fb::bind {
namespace {

constexpr char kName[] = "__cuda_array_interface__";

// "<f4": byte order, kind and bytes.
DType element_type(PyObject* text) {
  const char* const code = PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  PyErr_Clear();
  FB_CHECK_TYPE(code && std::string_view(code).size() >= 3, kName, ": expected a typestr");
  const std::string_view typestr(code);
  FB_CHECK_TYPE(typestr[0] != '>', kName, ": elements of the other byte order, ", typestr);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto candidate = static_cast<DType>(i);
    if (candidate == DType::kBFloat16) continue;
    const char kind = candidate == DType::kBool ? 'b'
                      : is_complex(candidate)   ? 'c'
                      : is_floating(candidate)  ? 'f'
                      : is_signed(candidate)    ? 'i'
                                                : 'u';
    if (typestr[1] == kind && typestr.substr(2) == std::to_string(size_of(candidate)))
      return candidate;
  }
  fail(ErrorKind::kType, kName, ": no element type for ", typestr);
}

Ref item_of(PyObject* interface, const char* name) {
  PyObject* const found = PyDict_GetItemString(interface, name);
  return Ref(found ? new_ref(found) : nullptr);
}

bool is_given(const Ref& value) { return value && value.get() != Py_None; }

}  // namespace

bool is_cuda_array(PyObject* object) {
  // What Python's own values are made of is not asked: lists of a million numbers come here.
  if (PyLong_Check(object) || PyFloat_Check(object) || PyList_Check(object) ||
      PyTuple_Check(object) || PyUnicode_Check(object))
    return false;
  const bool found = PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), kName) ||
                     PyObject_HasAttrString(object, kName);
  PyErr_Clear();
  return found;
}

Tensor from_cuda_array(PyObject* object) {
  const Ref interface = checked(PyObject_GetAttrString(object, kName));
  FB_CHECK_TYPE(PyDict_Check(interface.get()), kName, ": expected a dict");
  const Ref shape = item_of(interface.get(), "shape"),
            typestr = item_of(interface.get(), "typestr");
  const Ref data = item_of(interface.get(), "data"), mask = item_of(interface.get(), "mask");
  const Ref strides = item_of(interface.get(), "strides");
  const Ref stream = item_of(interface.get(), "stream");
  FB_CHECK_TYPE(
      shape && typestr && data && PyTuple_Check(data.get()) && PyTuple_GET_SIZE(data.get()) == 2,
      kName, ": expected shape, typestr and data, a pair");
  FB_CHECK_TYPE(!is_given(mask), kName, ": masked arrays have no form as a tensor");
  const DType dtype = element_type(typestr.get());
  const auto width = static_cast<int64_t>(size_of(dtype));
  const Dims sizes = read::int_list(shape.get());
  Dims steps = contiguous_strides(sizes);
  if (is_given(strides)) {
    steps = read::int_list(strides.get());
    FB_CHECK_VALUE(steps.size() == sizes.size(), kName, ": shape ", sizes, " and strides ", steps);
    for (int64_t& step : steps) {
      FB_CHECK_VALUE(step >= 0 && step % width == 0, kName, ": strides of ", step,
                     " bytes; tensors have none that are negative or no multiple of the element, ",
                     width, " bytes. Make a copy of the array first.");
      step /= width;
    }
  }
  void* const address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data.get(), 0));
  if (PyErr_Occurred()) throw PythonError{};
  Device device(DeviceType::kCuda, memory_of(Device(DeviceType::kCuda)).current());
  start_device[static_cast<int>(DeviceType::kCuda)](device);
  const size_t bytes = static_cast<size_t>(span_of(sizes, steps)) * size_of(dtype);
  if (bytes > 0) {
    const int owner = cuda::device_owning(address);
    FB_CHECK_VALUE(owner >= 0, kName, ": the address ", reinterpret_cast<uintptr_t>(address),
                   " is no memory of a GPU");
    device.index = static_cast<int8_t>(owner);
  }
  if (is_given(stream)) {
    // 1 and 2 are names of default streams, the whole device's and the thread's.
    const auto number = reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(stream.get()));
    if (PyErr_Occurred()) throw PythonError{};
    FB_CHECK_VALUE(number != 0, kName, ": the stream 0 has no meaning there; 1 is the default one");
    const auto theirs = reinterpret_cast<cuda::Stream>(number == 1 ? 0 : number);
    const cuda::Stream ours = cuda::current_stream(device.index);
    if (theirs != ours) cuda::order_streams(device.index, theirs, ours);
  }
  Storage storage = adopt_python(address, bytes, object);
  storage->device = device;
  return tensor_over(std::move(storage), sizes, steps, 0, dtype, device);
}

}  // namespace fb::bind
