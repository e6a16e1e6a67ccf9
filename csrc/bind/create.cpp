// tensor(), as_tensor(), asarray() and new_tensor(): tensors from Python data.
#include "bind/call.h"
#include "bind/from_data.h"
#include "bind/interop.h"
#include "bind/pinned.h"
#include "bind/tape.h"
#include "gen/ops/copy.h"
#include "ops/host.h"

namespace fb::bind {
namespace {

// Moves a tensor made of Python data to the requested device.
Tensor on_device(const Tensor& made, std::optional<Device> device) {
  return noted(device ? ops::on_device(made, actual_device(*device)) : made);
}

// Refuses a device before anything is made for it.
std::optional<Device> device_argument(PyObject* device) {
  const std::optional<Device> given = read::optional_device(device);
  check_device(given.value_or(kHost));
  return given;
}

}  // namespace

PyObject* bound_tensor(PyObject* const* a) {
  const std::optional<Device> device = device_argument(a[2]);
  check_pinned(a[4]);
  const Tensor made = tensor_from_data(a[0], read::optional_dtype(a[1]));
  return wrap(with_requires_grad(as_pinned(on_device(made, device), a[4]), a[3]));
}

PyObject* bound_as_tensor(PyObject* const* a) {
  const std::optional<Device> device = device_argument(a[2]);
  return wrap(on_device(tensor_on_data(a[0], read::optional_dtype(a[1])), device));
}

PyObject* bound_asarray(PyObject* const* a) {
  const std::optional<Device> device = device_argument(a[2]);
  const std::optional<DType> dtype = read::optional_dtype(a[1]);
  const std::optional<bool> copy = read::optional_boolean(a[3]);
  if (copy.value_or(false))
    return wrap(with_requires_grad(on_device(tensor_from_data(a[0], dtype), device), a[4]));
  // Shared memory is viewed first and cast then; Python numbers are read directly in the given
  // type.
  const bool may_share = is_tensor(a[0]) || is_numpy_array(a[0]) || is_cuda_array(a[0]);
  const Tensor shared = tensor_on_data(a[0], may_share ? std::nullopt : dtype);
  fb::check_dense("asarray", shared);
  FB_CHECK_VALUE(
      copy.value_or(true) || ((!dtype || shared.dtype() == *dtype) && may_share),
      "cannot make a tensor of that type from these data without a copy, which copy=False forbids");
  const bool is_cast = dtype && *dtype != shared.dtype();
  const Tensor typed = is_cast && is_recorded() ? ops::to_copy(shared, *dtype)
                       : dtype                  ? ops::cast(shared, *dtype)
                                                : shared;
  return wrap(with_requires_grad(on_device(typed, device), a[4]));
}

PyObject* bound_new_tensor(PyObject* const* a) {
  const Tensor& like = tensor_of(a[0]);
  const Device device = device_argument(a[3]).value_or(like.device());
  check_pinned(a[5]);
  const DType dtype = read::optional_dtype(a[2]).value_or(like.dtype());
  const Tensor made = on_device(tensor_from_data(a[1], dtype), device);
  return wrap(with_requires_grad(as_pinned(made, a[5]), a[4]));
}

}  // namespace fb::bind
