// DLPack both ways. The producer's deleter may be called from any thread, so it holds a storage and
// no Python object.
#include <memory>
#include <type_traits>

#include "autograd/sparse.h"
#include "bind/dlpack.h"
#include "bind/interop.h"
#include "ops/layout.h"

namespace fb::bind {

namespace {

dlpack::DataType data_type(DType t) {
  const auto bits = static_cast<uint8_t>(8 * size_of(t));
  if (t == DType::kBool) return {dlpack::kBool, bits, 1};
  if (t == DType::kBFloat16) return {dlpack::kBfloat, bits, 1};
  if (is_complex(t)) return {dlpack::kComplex, bits, 1};
  if (is_floating(t)) return {dlpack::kFloat, bits, 1};
  return {is_signed(t) ? dlpack::kInt : dlpack::kUInt, bits, 1};
}

DType element_type(dlpack::DataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto candidate = static_cast<DType>(i);
    const dlpack::DataType known = data_type(candidate);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return candidate;
  }
  PyErr_Format(PyExc_BufferError,
               "no element type for DLPack type code %d with %d bits and %d lanes", type.code,
               type.bits, type.lanes);
  throw PythonError{};
}

// An exported tensor.
template <class Handle>
struct Exported {
  Handle handle{};
  Storage storage;
  Dims sizes;
  Dims strides;
};

template <class Handle>
void delete_exported(Handle* handle) {
  delete static_cast<Exported<Handle>*>(handle->context);
}

// Runs when the capsule dies: if nobody has consumed the tensor, it is released here.
template <class Handle>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Handle::kName)) return;
  auto* handle = static_cast<Handle*>(PyCapsule_GetPointer(capsule, Handle::kName));
  if (handle->deleter) handle->deleter(handle);
}

template <class Handle>
PyObject* export_tensor(const Tensor& tensor, bool copied) {
  auto exported = std::make_unique<Exported<Handle>>();
  exported->storage = tensor.storage();
  exported->storage->resizable = false;
  exported->sizes = tensor.sizes().vec();
  exported->strides = tensor.strides().vec();

  Handle& handle = exported->handle;
  handle.context = exported.get();
  handle.deleter = delete_exported<Handle>;
  if constexpr (std::is_same_v<Handle, dlpack::ManagedVersioned>) {
    handle.version = dlpack::kVersion;
    handle.flags = copied ? dlpack::kIsCopied : 0;
  }
  const bool is_cuda = tensor.device().type == DeviceType::kCuda;
  FB_CHECK_AS(ErrorKind::kValue, is_cuda || tensor.device() == kHost,
              "DLPack has no code for the device ", tensor.device());
  handle.array = {
      .data = tensor.data(),
      .device = {is_cuda ? dlpack::kCuda : dlpack::kCpu, is_cuda ? tensor.device().index : 0},
      .ndim = static_cast<int32_t>(tensor.dim()),
      .dtype = data_type(tensor.dtype()),
      .shape = exported->sizes.data(),
      .strides = exported->strides.data(),
      .byte_offset = 0};
  PyObject* capsule = PyCapsule_New(&handle, Handle::kName, drop_capsule<Handle>);
  if (!capsule) throw PythonError{};
  exported.release();
  return capsule;
}

template <class Handle>
Tensor import_tensor(PyObject* capsule) {
  auto* handle = static_cast<Handle*>(PyCapsule_GetPointer(capsule, Handle::kName));
  if constexpr (std::is_same_v<Handle, dlpack::ManagedVersioned>) {
    if (handle->version.major > dlpack::kVersion.major) {
      PyErr_Format(PyExc_BufferError, "DLPack version %u.%u is newer than the 1.x understood here",
                   handle->version.major, handle->version.minor);
      throw PythonError{};
    }
  }
  const dlpack::Array& array = handle->array;
  const bool on_cuda = array.device.type == dlpack::kCuda;
  if (!on_cuda && array.device.type != dlpack::kCpu && array.device.type != dlpack::kCudaHost) {
    PyErr_Format(PyExc_BufferError, "DLPack device type %d is not supported", array.device.type);
    throw PythonError{};
  }
  const Device place =
      on_cuda ? Device(DeviceType::kCuda, static_cast<int8_t>(array.device.id)) : kHost;
  check_device(place);
  const DType dtype = element_type(array.dtype);
  const IntSpan sizes(array.shape, static_cast<size_t>(array.ndim));
  const Dims strides =
      array.strides ? IntSpan(array.strides, sizes.size()).vec() : contiguous_strides(sizes);
  for (const int64_t stride : strides)
    FB_CHECK_VALUE(stride >= 0, "tensors have no negative strides, got strides ", strides,
                   ". Make a copy of the array first.");

  // Only now is it certain that the capsule can be consumed.
  if (PyCapsule_SetName(capsule, Handle::kUsedName) < 0) throw PythonError{};
  const size_t bytes = static_cast<size_t>(span_of(sizes, strides)) * size_of(dtype);
  const auto release = [](void* context) {
    auto* taken = static_cast<Handle*>(context);
    if (taken->deleter) taken->deleter(taken);
  };
  Storage storage =
      Storage::adopt(static_cast<char*>(array.data) + array.byte_offset, bytes, release, handle);
  storage->device = place;
  return tensor_over(std::move(storage), sizes, strides, 0, dtype, place);
}

}  // namespace

PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied) {
  check_dense("to_dlpack", tensor);
  ops::settle(tensor);
  return versioned ? export_tensor<dlpack::ManagedVersioned>(tensor, copied)
                   : export_tensor<dlpack::Managed>(tensor, copied);
}

Tensor from_dlpack(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, dlpack::ManagedVersioned::kName))
    return import_tensor<dlpack::ManagedVersioned>(capsule);
  FB_CHECK(PyCapsule_IsValid(capsule, dlpack::Managed::kName),
           "expected a DLPack capsule that has not been consumed, got ", Py_TYPE(capsule)->tp_name);
  return import_tensor<dlpack::Managed>(capsule);
}

}  // namespace fb::bind
