// tensor(), as_tensor(), asarray() and new_tensor(): tensors from Python data.
#include "bind/call.h"
#include "bind/from_data.h"
#include "bind/interop.h"
#include "bind/pinned.h"

namespace fb::bind {
namespace {

void check_device_argument(PyObject* device) {
  check_device(read::optional_device(device).value_or(kHost));
}

PyObject* invoke_tensor(PyObject* const* a) {
  check_device_argument(a[2]);
  check_pinned(a[4]);
  return wrap(with_requires_grad(tensor_from_data(a[0], read::optional_dtype(a[1])), a[3]));
}
constexpr ArgSpec kTensorArgs[] = {{"data", ArgType::kAny, true, 0},
                                   {"dtype", ArgType::kOptDType, false, 1},
                                   {"device", ArgType::kOptDevice, false, 2},
                                   {"requires_grad", ArgType::kBool, false, 3},
                                   {"pin_memory", ArgType::kBool, false, 4}};
constexpr Overload kTensor{
    "(object data, *, torch.dtype dtype = None, torch.device device = None, bool requires_grad = "
    "False, "
    "bool pin_memory = False)",
    kTensorArgs,
    5,
    1,
    5,
    invoke_tensor};

PyObject* invoke_as_tensor(PyObject* const* a) {
  check_device_argument(a[2]);
  return wrap(tensor_on_data(a[0], read::optional_dtype(a[1])));
}
constexpr ArgSpec kAsTensorArgs[] = {{"data", ArgType::kAny, true, 0},
                                     {"dtype", ArgType::kOptDType, false, 1},
                                     {"device", ArgType::kOptDevice, false, 2}};
constexpr Overload kAsTensor{"(object data, torch.dtype dtype = None, torch.device device = None)",
                             kAsTensorArgs,
                             3,
                             3,
                             3,
                             invoke_as_tensor};

PyObject* invoke_asarray(PyObject* const* a) {
  check_device_argument(a[2]);
  const std::optional<DType> dtype = read::optional_dtype(a[1]);
  const std::optional<bool> copy = read::optional_boolean(a[3]);
  if (copy.value_or(false)) return wrap(with_requires_grad(tensor_from_data(a[0], dtype), a[4]));
  // What is shared is looked at before it is cast; numbers of Python are read as what is asked for.
  const bool may_share = is_tensor(a[0]) || is_numpy_array(a[0]);
  const Tensor shared = tensor_on_data(a[0], may_share ? std::nullopt : dtype);
  fb::check_dense("asarray", shared);
  FB_CHECK_VALUE(
      copy.value_or(true) || ((!dtype || shared.dtype() == *dtype) && may_share),
      "these data cannot become a tensor of that type without a copy, which copy=False forbids");
  return wrap(with_requires_grad(dtype ? ops::cast(shared, *dtype) : shared, a[4]));
}
constexpr ArgSpec kAsarrayArgs[] = {{"obj", ArgType::kAny, true, 0},
                                    {"dtype", ArgType::kOptDType, false, 1},
                                    {"device", ArgType::kOptDevice, false, 2},
                                    {"copy", ArgType::kOptBool, false, 3},
                                    {"requires_grad", ArgType::kBool, false, 4}};
constexpr Overload kAsarray{
    "(object obj, *, torch.dtype dtype = None, torch.device device = None, bool copy = None, "
    "bool requires_grad = False)",
    kAsarrayArgs,
    5,
    1,
    5,
    invoke_asarray};

PyObject* invoke_new_tensor(PyObject* const* a) {
  check_device_argument(a[3]);
  check_pinned(a[5]);
  const DType dtype = read::optional_dtype(a[2]).value_or(tensor_of(a[0]).dtype());
  return wrap(with_requires_grad(tensor_from_data(a[1], dtype), a[4]));
}
constexpr ArgSpec kNewTensorArgs[] = {
    {"input", ArgType::kTensor, true, 0},        {"data", ArgType::kAny, true, 1},
    {"dtype", ArgType::kOptDType, false, 2},     {"device", ArgType::kOptDevice, false, 3},
    {"requires_grad", ArgType::kBool, false, 4}, {"pin_memory", ArgType::kBool, false, 5}};
constexpr Overload kNewTensor{
    "(object data, *, torch.dtype dtype = None, torch.device device = None, bool requires_grad = "
    "False, "
    "bool pin_memory = False)",
    kNewTensorArgs,
    6,
    2,
    6,
    invoke_new_tensor};

}  // namespace

PyObject* bound_tensor(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"tensor", &kTensor, 1};
  return call_function(set, self, args, nargs, kwnames);
}

PyObject* bound_as_tensor(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"as_tensor", &kAsTensor, 1};
  return call_function(set, self, args, nargs, kwnames);
}

PyObject* bound_asarray(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"asarray", &kAsarray, 1};
  return call_function(set, self, args, nargs, kwnames);
}

PyObject* bound_new_tensor_method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"new_tensor", &kNewTensor, 1};
  return call_method(set, self, args, nargs, kwnames);
}

}  // namespace fb::bind
