// requires_grad_() and detach_(): methods that return their own object.
#include "bind/call.h"

namespace fb::bind {
namespace {

PyObject* invoke_requires_grad(PyObject* const* a) {
  autograd::set_requires_grad(tensor_of(a[0]), a[1] ? read::boolean(a[1]) : true);
  return new_ref(a[0]);
}
constexpr ArgSpec kRequiresGradArgs[] = {{"input", ArgType::kTensor, true, 0},
                                         {"requires_grad", ArgType::kBool, false, 1}};
constexpr Overload kRequiresGrad{"(bool requires_grad = True)", kRequiresGradArgs, 2, 2, 2,
                                 invoke_requires_grad};

PyObject* invoke_detach(PyObject* const* a) {
  autograd::detach_(tensor_of(a[0]));
  return new_ref(a[0]);
}
constexpr ArgSpec kDetachArgs[] = {{"input", ArgType::kTensor, true, 0}};
constexpr Overload kDetach{"()", kDetachArgs, 1, 1, 1, invoke_detach};
constexpr OverloadSet kDetachSet{"detach_", &kDetach, 1};

}  // namespace

PyObject* bound_detach_(FB_PY_ARGUMENTS) {
  return call_function(kDetachSet, self, args, nargs, kwnames);
}
PyObject* bound_detach__method(FB_PY_ARGUMENTS) {
  return call_method(kDetachSet, self, args, nargs, kwnames);
}

PyObject* bound_requires_grad__method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"requires_grad_", &kRequiresGrad, 1};
  return call_method(set, self, args, nargs, kwnames);
}

}  // namespace fb::bind
