// requires_grad_() and detach_(): methods that return their own object.
#include "bind/call.h"

namespace fb::bind {

PyObject* bound_requires_grad_(PyObject* const* a) {
  autograd::set_requires_grad(tensor_of(a[0]), a[1] ? read::boolean(a[1]) : true);
  return new_ref(a[0]);
}

PyObject* bound_detach_(PyObject* const* a) {
  autograd::detach_(tensor_of(a[0]));
  return new_ref(a[0]);
}

}  // namespace fb::bind
