// torch.Tensor(...): the old constructor.
#include "bind/call.h"
#include "bind/tensor_object.h"

namespace fb::bind {

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded("Tensor", [&] {
    Dims sizes;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
      sizes.push_back(read::integer(PyTuple_GET_ITEM(args, i)));
    if (sizes.empty()) sizes.push_back(0);
    return wrap_as(type, make_tensor(sizes, default_dtype()));
  });
}

}  // namespace fb::bind
