// The buffer protocol: memoryview(tensor), frombuffer.
#include <array>
#include <memory>

#include "autograd/history.h"
#include "bind/ending.h"
#include "bind/interop.h"
#include "ops/layout.h"

namespace fb::bind {

namespace {

// Codes of the struct module; bfloat16 has none.
constexpr std::array<const char*, kDTypeCount> kFormats = {"?", "B",     "b", "h", "i",  "q",
                                                           "e", nullptr, "f", "d", "Zf", "Zd"};

// What a view points at for as long as it lives.
struct BufferState {
  Storage storage;
  Dims sizes;
  Dims byte_strides;
};

struct ReleaseView {
  void operator()(Py_buffer* view) const {
    PyBuffer_Release(view);
    delete view;
  }
};

void release_view_locked(void* view) {
  if (const LockToDrop lock; lock) ReleaseView{}(static_cast<Py_buffer*>(view));
}

bool asks_for(int flags, int request) { return (flags & request) == request; }

bool is_fortran_contiguous(const Tensor& tensor) {
  int64_t expected = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.sizes()[i] != 1 && tensor.strides()[i] != expected) return false;
    expected *= tensor.sizes()[i];
  }
  return true;
}

[[noreturn]] void raise_buffer_error(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  throw PythonError{};
}

}  // namespace

void fill_buffer(PyObject* exporter, const Tensor& tensor, Py_buffer* view, int flags) {
  ops::settle(tensor);
  const char* format = kFormats[static_cast<int>(tensor.dtype())];
  if (tensor.device().type != DeviceType::kCpu) raise_buffer_error("the tensor is not on the CPU");
  if (is_sparse(tensor)) raise_buffer_error("the tensor is sparse; use tensor.to_dense()");
  if (autograd::requires_grad(tensor))
    raise_buffer_error("the tensor requires grad; use tensor.detach()");
  if (!format) raise_buffer_error("the buffer protocol has no code for bfloat16");
  if (tensor.device() != kHost)
    raise_buffer_error("the tensor is not in the host's memory; use tensor.cpu()");
  const bool wants_strides = asks_for(flags, PyBUF_STRIDES);
  const bool is_c = tensor.is_contiguous();
  if ((!wants_strides || asks_for(flags, PyBUF_C_CONTIGUOUS)) && !is_c)
    raise_buffer_error("the tensor is not contiguous");
  if (asks_for(flags, PyBUF_F_CONTIGUOUS) && !is_fortran_contiguous(tensor))
    raise_buffer_error("the tensor is not contiguous in Fortran's order");
  if (asks_for(flags, PyBUF_ANY_CONTIGUOUS) && !is_c && !is_fortran_contiguous(tensor))
    raise_buffer_error("the tensor is not contiguous in any order");

  auto state = std::make_unique<BufferState>();
  state->storage = tensor.storage();
  state->storage->resizable = false;
  const auto itemsize = static_cast<int64_t>(tensor.element_size());
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    state->sizes.push_back(tensor.sizes()[i]);
    state->byte_strides.push_back(tensor.strides()[i] * itemsize);
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  view->buf = tensor.data();
  view->len = tensor.numel() * itemsize;
  view->itemsize = itemsize;
  view->readonly = 0;
  view->ndim = static_cast<int>(tensor.dim());
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t*>(state->sizes.data()) : nullptr;
  view->strides =
      wants_strides ? reinterpret_cast<Py_ssize_t*>(state->byte_strides.data()) : nullptr;
  view->suboffsets = nullptr;
  view->internal = state.release();
  Py_INCREF(exporter);
  view->obj = exporter;
}

void release_buffer(Py_buffer* view) { delete static_cast<BufferState*>(view->internal); }

Tensor from_buffer(PyObject* object, DType dtype, int64_t count, int64_t offset) {
  FB_CHECK_VALUE(PyObject_CheckBuffer(object), "object does not implement Python buffer protocol.");
  std::unique_ptr<Py_buffer, ReleaseView> view(new Py_buffer{});
  bool writable = true;
  if (PyObject_GetBuffer(object, view.get(), PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    writable = false;
    if (PyObject_GetBuffer(object, view.get(), PyBUF_SIMPLE) < 0) throw PythonError{};
  }
  const int64_t length = view->len;
  const auto itemsize = static_cast<int64_t>(size_of(dtype));
  FB_CHECK_VALUE(length > 0 && count != 0, "both buffer length (", length, ") and count (", count,
                 ") must not be 0");
  FB_CHECK_VALUE(offset >= 0 && offset < length, "offset (", offset,
                 " bytes) must be non-negative and no greater than buffer length (", length,
                 " bytes) minus 1");
  const int64_t available = length - offset;
  if (count < 0) {
    FB_CHECK_VALUE(available % itemsize == 0, "buffer length (", available,
                   " bytes) after offset (", offset, " bytes) must be a multiple of element size (",
                   itemsize, ")");
    count = available / itemsize;
  }
  FB_CHECK_VALUE(count <= available / itemsize, "requested buffer length (", count, " * ", itemsize,
                 " bytes) after offset (", offset,
                 " bytes) must not be greater than actual buffer length (", length, " bytes)");
  if (!writable) {
    const int failed = PyErr_WarnEx(PyExc_UserWarning,
                                    "The given buffer is not writable, and a tensor always is: "
                                    "writing to the tensor writes to the "
                                    "buffer. Copy it first to protect it.",
                                    1);
    if (failed) throw PythonError{};
  }
  // An offset need not be a multiple of the element size, so it goes into the address. The storage
  // is only what the tensor covers: the rest of the buffer is neither saved nor reachable with it.
  void* start = static_cast<char*>(view->buf) + offset;
  Storage storage =
      Storage::adopt(start, static_cast<size_t>(count * itemsize), release_view_locked, view.get());
  view.release();
  return tensor_over(std::move(storage), {count}, {1}, 0, dtype, kHost);
}

}  // namespace fb::bind
