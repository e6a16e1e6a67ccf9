// x[...]: reading and writing through an index.
#include "bind/call.h"
#include "bind/tensor_object.h"

namespace fb::bind {

PyObject* tensor_getitem(PyObject* self, PyObject* index) {
  return guarded("__getitem__", [&] {
    const Tensor& t = tensor_of(self);
    FB_CHECK_TYPE(is_integer_like(index), "unsupported index");
    FB_CHECK_INDEX(t.dim() > 0, "too many indices for a 0-d tensor");
    int64_t i = read::integer(index);
    if (i < 0) i += t.size(0);
    FB_CHECK_INDEX(i >= 0 && i < t.size(0), "index ", i,
                   " is out of bounds for dimension 0 with size ", t.size(0));
    return wrap(as_view(t, t.sizes().last(t.dim() - 1), t.strides().last(t.dim() - 1),
                        t.offset() + i * t.strides()[0]));
  });
}

int tensor_setitem(PyObject*, PyObject*, PyObject*) { return -1; }

}  // namespace fb::bind
