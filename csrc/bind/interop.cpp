// Python entry points of interop: arguments in, the functions of interop.h, objects out.
#include "bind/interop.h"

#include <nanobind/nanobind.h>

#include "autograd/batch.h"
#include "autograd/history.h"
#include "bind/call.h"
#include "bind/value_types.h"
#include "core/profile.h"
#include "gen/ops/sparse.h"
#include "ops/layout.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

PyObject* invoke_from_numpy(PyObject* const* a) { return wrap(from_numpy(a[0])); }
constexpr ArgSpec kFromNumpyArgs[] = {{"ndarray", ArgType::kAny, true, 0}};
constexpr Overload kFromNumpy{"(numpy.ndarray ndarray)", kFromNumpyArgs, 1, 1, 1,
                              invoke_from_numpy};

PyObject* invoke_frombuffer(PyObject* const* a) {
  const Tensor tensor = from_buffer(a[0], read::dtype_value(a[1]), a[2] ? read::integer(a[2]) : -1,
                                    a[3] ? read::integer(a[3]) : 0);
  return wrap(with_requires_grad(tensor, a[4]));
}
constexpr ArgSpec kFromBufferArgs[] = {{"buffer", ArgType::kAny, true, 0},
                                       {"dtype", ArgType::kDType, true, 1},
                                       {"count", ArgType::kInt, false, 2},
                                       {"offset", ArgType::kInt, false, 3},
                                       {"requires_grad", ArgType::kBool, false, 4}};
constexpr Overload kFromBuffer{
    "(object buffer, *, torch.dtype dtype, int count = -1, int offset = 0, "
    "bool requires_grad = False)",
    kFromBufferArgs,
    5,
    1,
    5,
    invoke_frombuffer};

PyObject* invoke_numpy(PyObject* const* a) {
  const Tensor& tensor = tensor_of(a[0]);
  FB_CHECK_TYPE(!is_sparse(tensor),
                "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.");
  autograd::check_has_elements(tensor, "numpy");
  const bool force = a[1] && read::boolean(a[1]);
  FB_CHECK(force || !(autograd::is_recording() && autograd::requires_grad(tensor)),
           "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  return to_numpy(tensor);
}
constexpr ArgSpec kNumpyArgs[] = {{"input", ArgType::kTensor, true, 0},
                                  {"force", ArgType::kBool, false, 1}};
constexpr Overload kNumpy{"(*, bool force = False)", kNumpyArgs, 2, 1, 2, invoke_numpy};

PyObject* invoke_tolist(PyObject* const* a) {
  if (autograd::requires_grad(tensor_of(a[0]))) autograd::note_number_taken("tolist");
  return to_list(tensor_of(a[0]));
}
constexpr ArgSpec kSelfOnly[] = {{"input", ArgType::kTensor, true, 0}};
constexpr Overload kToList{"()", kSelfOnly, 1, 1, 1, invoke_tolist};

PyObject* item_of(const Tensor& tensor) {
  if (is_sparse(tensor)) [[unlikely]]
    return item_of(ops::to_dense(tensor));
  autograd::check_has_elements(tensor, "item");
  if (autograd::requires_grad(tensor)) autograd::note_number_taken("item");
  FB_CHECK(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
           " elements cannot be converted to Scalar");
  return to_python_number(tensor.dtype(), tensor.data());
}
PyObject* invoke_item(PyObject* const* a) { return item_of(tensor_of(a[0])); }
constexpr Overload kItem{"()", kSelfOnly, 1, 1, 1, invoke_item, "aten::item"};

// A method without arguments: matching is needed only to refuse them, and to tell profilers.
PyObject* call_without_arguments(const OverloadSet& set, FB_PY_ARGUMENTS) {
  if (nargs || kwnames || is_overridden(self) || profile::is_on())
    return call_method(set, self, args, nargs, kwnames);
  return guarded(set.name, [&] { return set.overloads->invoke(&self); });
}

nb::object object_of(Tensor tensor) { return nb::steal(wrap(std::move(tensor))); }

// PythonError is not known to nanobind; its own exception carries what is set.
template <class F>
auto translated(F&& f) {
  try {
    return f();
  } catch (const PythonError&) {
    nb::raise_python_error();
  }
}

}  // namespace

PyObject* bound_from_numpy(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"from_numpy", &kFromNumpy, 1};
  return call_function(set, self, args, nargs, kwnames);
}
PyObject* bound_frombuffer(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"frombuffer", &kFromBuffer, 1};
  return call_function(set, self, args, nargs, kwnames);
}
PyObject* bound_numpy_method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"numpy", &kNumpy, 1};
  return call_method(set, self, args, nargs, kwnames);
}
PyObject* bound_tolist_method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"tolist", &kToList, 1};
  return call_without_arguments(set, self, args, nargs, kwnames);
}
PyObject* bound_item_method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"item", &kItem, 1};
  return call_without_arguments(set, self, args, nargs, kwnames);
}

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
  m.def("_has_memory", [](nb::handle tensor) {
    const Tensor& t = tensor_of(tensor.ptr());
    return t.numel() == 0 || t.storage()->data;
  });
  m.def("_resize_storage", [](nb::handle tensor, int64_t bytes) {
    FB_CHECK(bytes >= 0, "expected a non-negative number of bytes, got ", bytes);
    Storage storage = tensor_of(tensor.ptr()).storage();
    FB_CHECK(storage->resizable, "this storage cannot be resized: its memory is shared");
    storage.resize(static_cast<size_t>(bytes));
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
