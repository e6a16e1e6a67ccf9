// Python entry points of interop: arguments in, the functions of interop.h, objects out.
#include "bind/interop.h"

#include <nanobind/nanobind.h>

#include "autograd/batch.h"
#include "autograd/history.h"
#include "bind/call.h"
#include "bind/tape.h"
#include "bind/value_types.h"
#include "core/observe.h"
#include "gen/ops/sparse.h"
#include "ops/host.h"
#include "ops/layout.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

PyObject* item_of(const Tensor& tensor) {
  if (is_sparse(tensor)) [[unlikely]]
    return item_of(ops::to_dense(tensor));
  autograd::check_has_elements(tensor, "item");
  if (autograd::requires_grad(tensor)) autograd::note_number_taken("item");
  FB_CHECK(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
           " elements cannot be converted to Scalar");
  alignas(16) ops::RoomForElement room;
  return to_python_number(tensor.dtype(), ops::host_element(tensor, room));
}
nb::object object_of(Tensor tensor) { return nb::steal(wrap(std::move(tensor))); }

// nanobind does not know PythonError; its own exception carries the Python error that is set.
template <class F>
auto translated(F&& f) {
  try {
    return f();
  } catch (const PythonError&) {
    nb::raise_python_error();
  }
}

}  // namespace

PyObject* bound_from_numpy(PyObject* const* a) { return wrap(noted(from_numpy(a[0]))); }

PyObject* bound_frombuffer(PyObject* const* a) {
  const Tensor tensor = from_buffer(a[0], read::dtype_value(a[1]), a[2] ? read::integer(a[2]) : -1,
                                    a[3] ? read::integer(a[3]) : 0);
  return wrap(noted(with_requires_grad(tensor, a[4])));
}

PyObject* bound_numpy(PyObject* const* a) {
  const Tensor& tensor = tensor_of(a[0]);
  FB_CHECK_TYPE(!is_sparse(tensor),
                "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.");
  autograd::check_has_elements(tensor, "numpy");
  const bool force = a[1] && read::boolean(a[1]);
  FB_CHECK(force || !(autograd::is_recording() && autograd::requires_grad(tensor)),
           "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  return to_numpy(tensor);
}

PyObject* bound_tolist(PyObject* const* a) {
  if (autograd::requires_grad(tensor_of(a[0]))) autograd::note_number_taken("tolist");
  return to_list(tensor_of(a[0]));
}

PyObject* bound_item(PyObject* const* a) { return item_of(tensor_of(a[0])); }

void add_interop(PyObject* module) {
  nb::module_ m = nb::borrow<nb::module_>(module);
  m.def("_to_dlpack", [](nb::handle tensor, bool versioned, bool copied) {
    return translated(
        [&] { return nb::steal(to_dlpack(tensor_of(tensor.ptr()), versioned, copied)); });
  });
  m.def("_from_dlpack", [](nb::handle capsule) {
    return translated([&] { return object_of(from_dlpack(capsule.ptr())); });
  });
  m.def("_from_arrow", [](nb::handle schema, nb::handle array) {
    return translated([&] { return object_of(from_arrow(schema.ptr(), array.ptr())); });
  });
  m.def("_storage_bytes",
        [](nb::handle tensor) { return object_of(storage_bytes(tensor_of(tensor.ptr()))); });
  m.def("_storage_address", [](nb::handle tensor) {
    const Tensor& t = tensor_of(tensor.ptr());
    fb::check_dense("untyped_storage", t);
    ops::settle(t);
    return reinterpret_cast<uintptr_t>(t.storage().get());
  });
  m.def("_storage_is_resizable",
        [](nb::handle tensor) { return tensor_of(tensor.ptr()).storage()->resizable; });
  // For tensors on meta that are larger than a process has addresses for.
  m.def("_storage_without_memory", [](int64_t bytes) {
    FB_CHECK(bytes >= 0, "expected a non-negative number of bytes, got ", bytes);
    Storage none = Storage::adopt(nullptr, static_cast<size_t>(bytes), [](void*) {}, nullptr);
    return object_of(tensor_over(std::move(none), {bytes}, {1}, 0, DType::kUInt8, kHost));
  });
  m.def("_has_memory", [](nb::handle tensor) { return tensor_of(tensor.ptr())->has_memory(); });
  m.def("_promise", [](nb::handle tensor) { tensor_of(tensor.ptr()).storage()->promised = true; });
  m.def("_resize_storage", [](nb::handle tensor, int64_t bytes) {
    FB_CHECK(bytes >= 0, "expected a non-negative number of bytes, got ", bytes);
    Storage storage = tensor_of(tensor.ptr()).storage();
    FB_CHECK(storage->resizable, "this storage cannot be resized: its memory is shared");
    storage.resize(static_cast<size_t>(bytes));
  });
  // out= for a Python function that is not in the table: like an operator with the rule `exact`.
  m.def("_store_result", [](const char* name, nb::handle out, nb::handle value) {
    return translated([&] {
      store_result(name, tensor_of(out.ptr()), tensor_of(value.ptr()), ops::kOutExact);
      return nb::borrow(out);
    });
  });
  m.def("_move_to", [](nb::handle tensor, nb::handle window) {
    const Tensor& moved = tensor_of(tensor.ptr());
    const Tensor& target = tensor_of(window.ptr());
    fb::check_dense("set_", moved);
    fb::check_dense("set_", target);
    ops::settle(target);
    moved->set_geometry(target.sizes(), target.strides());
    moved->storage = target.storage();
    moved->offset = target.offset();
  });
  m.def("_swap_tensors", [](nb::handle one, nb::handle other) {
    auto* first = reinterpret_cast<PyTensor*>(one.ptr());
    auto* second = reinterpret_cast<PyTensor*>(other.ptr());
    std::swap(first->value, second->value);
    first->value->python_object = first;
    second->value->python_object = second;
  });
  m.def("_tensor_on_storage", [](nb::handle bytes, nb::handle dtype, int64_t offset,
                                 nb::handle size, nb::handle stride) {
    return object_of(tensor_on_storage(tensor_of(bytes.ptr()), dtype_of(dtype.ptr()), offset,
                                       read::int_list(size.ptr()), read::int_list(stride.ptr())));
  });
}

}  // namespace fb::bind
